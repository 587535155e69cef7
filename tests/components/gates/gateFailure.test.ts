import { describe, expect, test } from "@jest/globals";
import { catalogue } from "../../../components/errors/catalogue.ts";
import type { Verdict } from "../../../components/gates/gateDefinition.ts";
import { GateFailure } from "../../../components/gates/gateFailure.ts";

type Fault = Exclude<Verdict, { kind: "ok" }>;
const gate = { name: "Stages", timeoutCode: "SLU-T311" } as const;
const unmet = (verdict: Fault, seconds = 12.4, phrase = "every node to run") => ({ phrase, verdict, seconds });
const lines = (kind: "failed" | "timeout", ...all: readonly ReturnType<typeof unmet>[]) =>
  new GateFailure(gate, { kind, unmet: all, seconds: 30.2 }).message.split("\n");

describe("S3.2 the error of a gate that does not open", () => {
  test("says what was waited for, where, what was seen last, for how long, and what to do", () => {
    expect(lines("timeout", unmet({ kind: "pending", where: "w-1", reason: "is in stage booting" }))).toEqual([
      "Stages did not open within 30 s (SLU-T311: A node is stuck in a stage)",
      "  waited for every node to run:",
      "    w-1: is in stage booting (for 12 s)",
      `  What to do: ${catalogue["SLU-T311"].remedy}`,
    ]);
  });

  test("calls what is known of its own by its own code, and has each remedy once", () => {
    const silent: Fault = { kind: "pending", where: "w-1", reason: "does not answer", code: "SLU-T101" };
    const stuck: Fault = { kind: "pending", where: "w-2", reason: "is in stage booting" };
    const said = lines("timeout", unmet(silent), unmet({ ...silent, where: "w-3" }), unmet(stuck));
    expect(said[0]).toBe("Stages did not open within 30 s (SLU-T101: A node does not answer)");
    expect(said.slice(-2)).toEqual([
      `  What to do: ${catalogue["SLU-T101"].remedy}`,
      `  What to do: ${catalogue["SLU-T311"].remedy}`,
    ]);
  });

  test("of what cannot pass tells the remedy of that alone, and no time where there was none", () => {
    const failed: Fault = { kind: "failed", where: "w-2", reason: "is foreign", code: "SLU-T109", remedy: "Reset it." };
    expect(lines("failed", unmet(failed, 0.3), unmet({ kind: "pending", reason: "waits" }, 3))).toEqual([
      "Stages cannot open; seen after 30 s (SLU-T109: A node belongs to another cluster)",
      "  waited for every node to run:",
      "    w-2: is foreign",
      "    waits (for 3 s)",
      "  What to do: Reset it.",
    ]);
  });

  test("names twenty, and how many more there are", () => {
    const all = Array.from({ length: 25 }, (_, n) => unmet({ kind: "pending", where: `w-${n}`, reason: "boots" }));
    const said = lines("timeout", ...all);
    expect(said).toHaveLength(1 + 1 + 20 + 1 + 1);
    expect(said).toContain("    and 5 more");
  });
});
