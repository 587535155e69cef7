import { describe, expect, test } from "@jest/globals";
import { away } from "../../../../components/gates/talos/nodeAnswers.ts";
import type { NodeState } from "../../../../components/talos/client/nodeState.ts";

const node = { name: "w-1", role: "worker", talosAddress: "w.example.org", address: "10.0.0.21" } as const;
const verdict = (state: NodeState, tries = 1) => away({ node, tries, state });
const invalid = (of: "name" | "time"): NodeState => ({
  kind: "invalid",
  of,
  why: "its certificate is valid for another",
});

describe("a node that does not answer as ours", () => {
  test("S2.6 fails the gate when it stays reached by a name that is missing from its certificate", () => {
    const told = { where: "w-1", code: "SLU-T111", reason: "w.example.org: its certificate is valid for another" };
    expect(verdict(invalid("name"))).toEqual({ kind: "pending", ...told });
    expect(verdict(invalid("name"), 20)).toEqual({ kind: "failed", ...told });
  });

  test("S1.7(4) is waited for while a clock is wrong, which is the reason in the end", () => {
    expect(verdict(invalid("time"), 1000)).toMatchObject({ kind: "pending", where: "w-1", code: "SLU-T112" });
  });

  test.each<[NodeState, string, string | undefined]>([
    [{ kind: "foreign", why: "another PKI" }, "failed", "SLU-T109"],
    [{ kind: "unreachable", why: "no answer", refused: false }, "pending", "SLU-T101"],
    [{ kind: "unreachable", why: "refused", refused: true }, "pending", "SLU-T102"],
    [{ kind: "maintenance", version: "v1.13.8" }, "failed", "SLU-T215"],
  ])("S0.2 is reported by its state: %j", (state, kind, code) => {
    const told = verdict(state);
    expect([told.kind, "code" in told ? told.code : undefined]).toEqual([kind, code]);
  });
});
