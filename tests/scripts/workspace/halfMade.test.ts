import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, jest, test } from "@jest/globals";
import { halfMade, taintHalfMade } from "../../../scripts/workspace/halfMade.ts";

const server = "hcloud:index/server:Server";
const begun = ["creating urn:pulumi:test::sluice::a: 1 error occurred:\n\t* Action failed (action_failed, 3)\n\n"];
const changed = ["updating urn:pulumi:test::sluice::a: 1 error occurred:\n\t* Action failed (action_failed, 3)\n\n"];

describe("S1.6 what was half made", () => {
  test.each<[string, object, boolean]>([
    ["a server that could not be made to its end", { type: server, initErrors: begun }, true],
    ["a VM", { type: "proxmoxve:index/vmLegacy:VmLegacy", initErrors: begun }, true],
    ["a subnet", { type: "hcloud:index/networkSubnet:NetworkSubnet", initErrors: begun }, true],
    ["not a server that is whole", { type: server }, false],
    ["not one that could not be changed", { type: server, initErrors: changed }, false],
    ["not one that is tainted already", { type: server, initErrors: begun, taint: true }, false],
    ["not one that is protected", { type: server, initErrors: begun, protect: true }, false],
    ["not what is in the cluster", { type: "kubernetes:helm.sh/v3:Release", initErrors: begun }, false],
  ])("is %s", (_, resource, isHalfMade) => {
    const resources = [
      { type: server, urn: "urn:other" },
      { urn: "urn:own", ...resource },
    ];
    expect(halfMade({ version: 3, deployment: { resources } })).toEqual(isHalfMade ? ["urn:own"] : []);
  });

  test.each([
    ["an empty state", {}],
    ["a state without resources", { deployment: {} }],
  ])("is nothing in %s", (_, exported) => {
    expect(halfMade(exported)).toEqual([]);
  });

  describe("after a run that failed", () => {
    const folder = mkdtempSync(join(tmpdir(), "sluice-half-made-"));
    const pulumi = join(folder, "pulumi");
    const state = { deployment: { resources: [{ type: server, urn: "urn:a::dev-w-1", initErrors: begun }] } };
    const said = jest.spyOn(console, "error").mockImplementation(() => undefined);
    afterAll(() => {
      said.mockRestore();
      rmSync(folder, { recursive: true });
    });

    /** What it says with a CLI that tells this state, and whose `state taint` ends so. */
    async function saidAfter(exported: object, taint: number): Promise<unknown> {
      writeFileSync(join(folder, "state.json"), JSON.stringify(exported));
      const script = `#!/bin/sh\necho "$@" >> ${folder}/calls\n[ $1 = state ] && exit ${taint}\ncat ${folder}/state.json\n`;
      writeFileSync(pulumi, script, { mode: 0o700 });
      said.mockClear();
      const origin = { cli: "PATH", plugins: "downloaded" } as const;
      await taintHalfMade(
        { pulumi, environment: {}, origin },
        { name: "dev", environment: {}, options: [], local: undefined, lab: undefined },
      );
      return said.mock.calls[0]?.[0];
    }

    test("is tainted, which is said", async () => {
      expect(await saidAfter(state, 0)).toBe("sluice: dev-w-1: begun and not finished; the next 'up' makes it anew");
      expect(readFileSync(join(folder, "calls"), "utf8")).toContain("state taint urn:a::dev-w-1 --yes --stack dev");
    });

    test("is said with what makes it anew where that is refused", async () => {
      expect(await saidAfter(state, 1)).toMatch(/'npm run up -- dev --replace urn:a::dev-w-1'$/);
    });

    test("is not spoken of where nothing is", async () => {
      expect(await saidAfter({ deployment: { resources: [] } }, 0)).toBeUndefined();
    });
  });
});
