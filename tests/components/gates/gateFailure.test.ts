import { describe, expect, test } from "@jest/globals";
import { catalogue } from "../../../components/errors/catalogue.ts";
import { gateFailure } from "../../../components/gates/gateFailure.ts";
import type { Verdict } from "../../../components/waiting/condition.ts";

type Fault = Exclude<Verdict, { kind: "ok" }>;
const gate = { name: "Stages", timeoutCode: "SLU-T311" } as const;
const unmet = (verdict: Fault, seconds = 12.4, phrase = "every node to run") => ({ phrase, verdict, seconds });
const lines = (kind: "failed" | "stalled" | "timeout", ...all: readonly ReturnType<typeof unmet>[]) =>
  gateFailure(gate, { kind, unmet: all, hasObserved: true, seconds: 30.2 }, 5).message.split("\n");

describe("S3.2 the error of a gate that does not open", () => {
  test("reports what it waited for, where, the last observation, for how long, and what to do", () => {
    expect(lines("timeout", unmet({ kind: "pending", where: "w-1", reason: "is in stage booting" }))).toEqual([
      "SLU-T311 A node is stuck in a stage: gate Stages did not open within 30 s",
      "  expected:   every node to run",
      "  seen:       w-1: is in stage booting (for 12 s)",
      `  cause:      ${catalogue["SLU-T311"].cause}`,
      `  what to do: ${catalogue["SLU-T311"].remedy}`,
    ]);
  });

  test("has the code of each failure, and each remedy once", () => {
    const silent: Fault = { kind: "pending", where: "w-1", reason: "does not answer", code: "SLU-T101" };
    const stuck: Fault = { kind: "pending", where: "w-2", reason: "is in stage booting" };
    const said = lines("timeout", unmet(silent), unmet({ ...silent, where: "w-3" }), unmet(stuck));
    expect(said[0]).toBe("SLU-T101 A node does not answer: gate Stages did not open within 30 s");
    expect(said.slice(-2)).toEqual([
      `  what to do: ${catalogue["SLU-T101"].remedy}`,
      `              ${catalogue["SLU-T311"].remedy}`,
    ]);
  });

  test("has only the remedy of a permanent failure, and no duration if there was none", () => {
    const failed: Fault = { kind: "failed", where: "w-2", reason: "is foreign", code: "SLU-T109", remedy: "Reset it." };
    expect(lines("failed", unmet(failed, 0.3), unmet({ kind: "pending", reason: "waits" }, 3))).toEqual([
      "SLU-T109 The node belongs to another cluster: gate Stages failed after 30 s",
      "  expected:   every node to run",
      "  seen:       w-2: is foreign",
      "              waits (for 3 s)",
      `  cause:      ${catalogue["SLU-T109"].cause}`,
      "  what to do: Reset it.",
    ]);
  });

  test("has only the remedy of what stalled, and says that the gate did not wait for its deadline (S5.5)", () => {
    const stalled = {
      ...unmet({ kind: "pending", where: "w-1", reason: "kubelet is Failed", code: "SLU-T331" }, 45),
      isStalled: true as const,
    };
    expect(lines("stalled", stalled, unmet({ kind: "pending", where: "w-2", reason: "waits" }, 3))).toEqual([
      "SLU-T331 Talos services are not healthy: gate Stages gave up early, after 30 s",
      "  expected:   every node to run",
      "  seen:       w-1: kubelet is Failed (for 45 s)",
      "              w-2: waits (for 3 s)",
      `  cause:      ${catalogue["SLU-T331"].cause}`,
      `  what to do: ${catalogue["SLU-T331"].remedy}`,
    ]);
  });

  test("names twenty nodes, and how many more there are", () => {
    const all = Array.from({ length: 25 }, (_, n) => unmet({ kind: "pending", where: `w-${n}`, reason: "boots" }));
    const said = lines("timeout", ...all);
    expect(said).toHaveLength(1 + 1 + 20 + 1 + 1 + 1);
    expect(said).toContain("              and 5 more");
  });

  test("reports that nothing was observed, or for how long everything would have had to hold", () => {
    const end = { kind: "timeout", unmet: [], seconds: 30.2 } as const;
    const blind = gateFailure(gate, { ...end, hasObserved: false }, 5);
    expect(blind.message.split("\n")).toEqual([
      "SLU-T311 A node is stuck in a stage: gate Stages did not open within 30 s",
      "  seen:       nothing was observed",
      `  cause:      ${catalogue["SLU-T311"].cause}`,
      `  what to do: ${catalogue["SLU-T311"].remedy}`,
    ]);
    const unsteady = gateFailure(gate, { ...end, hasObserved: true }, 5);
    expect(unsteady.message).toContain(
      "\n  seen:       all conditions were met, but not yet for 5 s without a break\n",
    );
  });
});
