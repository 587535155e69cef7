import { describe, expect, test } from "@jest/globals";
import { userPatches } from "../../../../../components/talos/config/patches/userPatches.ts";
import { machineInput, machineNode, talosVersions } from "../../machineInput.ts";

const patch = (id: string) => ({ machine: { sysctls: { id } } });

function applied(version: string, config: Readonly<Record<string, unknown>>, name: string) {
  const input = machineInput(version, config);
  return userPatches(input, machineNode(input, name));
}

describe.each(talosVersions)("the user's own patches (S2.2) on Talos %s", (version) => {
  test("are kept in order, the secret ones last", () => {
    const config = {
      secretPatches: [{ name: "tailscale", patch: patch("secret") }],
      patches: [
        { name: "one", patch: patch("1") },
        { name: "two", patch: patch("2") },
      ],
    };
    expect(applied(version, config, "cp-1")).toStrictEqual([patch("1"), patch("2"), patch("secret")]);
  });

  test("apply only to the nodes of their role and name", () => {
    const config = {
      patches: [
        { name: "workers", role: "worker", patch: patch("workers") },
        { name: "named", nodes: ["cp-2", "w-1"], patch: patch("named") },
        { name: "both", nodes: ["cp-2", "w-1"], role: "controlplane", patch: patch("both") },
      ],
    };
    expect(applied(version, config, "cp-1")).toStrictEqual([]);
    expect(applied(version, config, "cp-2")).toStrictEqual([patch("named"), patch("both")]);
    expect(applied(version, config, "w-1")).toStrictEqual([patch("workers"), patch("named")]);
  });

  test("are absent if their switch is off", () => {
    const patches = [{ name: "vector", when: "logShipping", patch: patch("vector") }];
    expect(applied(version, { patches }, "cp-1")).toStrictEqual([]);
    expect(applied(version, { patches, machine: { logShipping: { enabled: true } } }, "cp-1")).toStrictEqual([
      patch("vector"),
    ]);
  });

  test("are refused on every node if they name an unknown switch or node", () => {
    const refused = (condition: object) => () =>
      applied(version, { patches: [{ name: "mine", patch: {}, role: "controlplane", ...condition }] }, "w-1");
    expect(refused({ when: "logshipping" })).toThrow(
      "patch 'mine': 'when' names no switch 'logshipping'; there are: 'logShipping'",
    );
    expect(refused({ when: "toString" })).toThrow("'when' names no switch 'toString'");
    expect(refused({ when: "logShipping", nodes: ["cp-9"] })).toThrow("'nodes' names no node 'cp-9'");
    expect(refused({ nodes: ["cp-1", "cp-9"] })).toThrow(
      "patch 'mine': 'nodes' names no node 'cp-9'; there are: 'cp-1', 'cp-2', 'cp-3', 'w-1'",
    );
  });
});
