import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, jest, test } from "@jest/globals";
import { failedCreations, taintFailedCreations } from "../../../scripts/stack/failedCreations.ts";
import { allPlatforms } from "../../../stacks/platforms/registry.ts";

const types = allPlatforms.flatMap(({ recreatedTypes }) => recreatedTypes);
const server = "hcloud:index/server:Server";
const started = ["creating urn:pulumi:test::sluice::a: 1 error occurred:\n\t* Action failed (action_failed, 3)\n\n"];
const changed = ["updating urn:pulumi:test::sluice::a: 1 error occurred:\n\t* Action failed (action_failed, 3)\n\n"];

describe("S1.6 resources whose creation failed half-way", () => {
  test.each<[string, object, boolean]>([
    ["a server whose creation failed", { type: server, initErrors: started }, true],
    ["a VM", { type: "proxmoxve:index/vmLegacy:VmLegacy", initErrors: started }, true],
    ["a subnet", { type: "hcloud:index/networkSubnet:NetworkSubnet", initErrors: started }, true],
    ["not a complete server", { type: server }, false],
    ["not one that could not be changed", { type: server, initErrors: changed }, false],
    ["not one that is tainted already", { type: server, initErrors: started, taint: true }, false],
    ["not one that is protected", { type: server, initErrors: started, protect: true }, false],
    ["not what is in the cluster", { type: "kubernetes:helm.sh/v3:Release", initErrors: started }, false],
  ])("is %s", (_, resource, isFailed) => {
    const resources = [
      { type: server, urn: "urn:other" },
      { urn: "urn:own", ...resource },
    ];
    expect(failedCreations({ version: 3, deployment: { resources } }, types)).toEqual(isFailed ? ["urn:own"] : []);
  });

  test.each([
    ["an empty state", {}],
    ["a state without resources", { deployment: {} }],
  ])("is nothing in %s", (_, exported) => {
    expect(failedCreations(exported, types)).toEqual([]);
  });

  describe("after a failed run", () => {
    const folder = mkdtempSync(join(tmpdir(), "sluice-half-made-"));
    const pulumi = join(folder, "pulumi");
    const state = { deployment: { resources: [{ type: server, urn: "urn:a::dev-w-1", initErrors: started }] } };
    const said = jest.spyOn(console, "error").mockImplementation(() => undefined);
    afterAll(() => {
      said.mockRestore();
      rmSync(folder, { recursive: true });
    });

    /** What it prints with a CLI that returns this state, and whose `state taint` has this exit code. */
    async function printedAfter(exported: object, taint: number): Promise<unknown> {
      writeFileSync(join(folder, "state.json"), JSON.stringify(exported));
      const script = `#!/bin/sh\necho "$@" >> ${folder}/calls\n[ $1 = state ] && exit ${taint}\ncat ${folder}/state.json\n`;
      writeFileSync(pulumi, script, { mode: 0o700 });
      said.mockClear();
      const origin = { cli: "PATH", plugins: "downloaded" } as const;
      await taintFailedCreations(
        { pulumi, environment: {}, origin },
        { name: "dev", environment: {}, options: [], local: undefined, lab: undefined },
      );
      return said.mock.calls[0]?.[0];
    }

    test("are tainted, which is reported", async () => {
      expect(await printedAfter(state, 0)).toBe(
        "sluice: dev-w-1: creation failed half-way; the next 'up' recreates it",
      );
      expect(readFileSync(join(folder, "calls"), "utf8")).toContain("state taint urn:a::dev-w-1 --yes --stack dev");
    });

    test("are reported with the command that recreates them if the taint is refused", async () => {
      expect(await printedAfter(state, 1)).toMatch(/: npm run up -- dev --replace 'urn:a::dev-w-1'$/);
    });

    test("are not mentioned if there are none", async () => {
      expect(await printedAfter({ deployment: { resources: [] } }, 0)).toBeUndefined();
    });
  });
});
