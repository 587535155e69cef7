// What a pull request's check does: a preview with no account, no cluster, no network, and nothing in the person's home.
import { afterAll, describe, expect, jest, test } from "@jest/globals";
import { listed, Workbench } from "../support/cli.ts";
import { cloudShape, devShape, hetznerResources, sealingKey } from "../support/hetznerResources.ts";
import { inSilence, withoutNetwork } from "../support/withoutNetwork.ts";

jest.setTimeout(180_000);

const bench = new Workbench({ fresh: true });
afterAll(() => bench.remove());

/** Every resource that the program knows, by environment. */
const resources = {
  home: [
    "pulumi:pulumi:Stack sluice-home",
    "sluice:talos:MachineSecrets home",
    ...["cp-1", "cp-2", "cp-3", "w-1", "w-2"].map((node) => `sluice:talos:NodeMachineConfig home-${node}`),
    "talos:machine/secrets:Secrets home",
  ],
  cloud: hetznerResources("cloud", cloudShape),
  dev: [...hetznerResources("dev", devShape), sealingKey].sort(),
};

describe("a preview without account, cluster and network", () => {
  test("U2 shows every resource that the program knows: home", async () => {
    const preview = await bench.npmWith({ within: withoutNetwork() }, "preview", "home");
    expect(preview).toMatchObject({ code: 0, stderr: "" });
    const created = [...preview.stdout.matchAll(/^ \+ {2}(\S+) (\S+) create $/gm)].map(
      ([, type, name]) => `${type} ${name}`,
    );
    // The engine writes a type without the file that it is defined in.
    expect([...new Set(created)].sort()).toEqual(resources.home.map((line) => line.replace(/\/\w+:/, ":")));
    expect(preview.stdout).toContain(`Resources:\n    + ${resources.home.length} to create\n`);
  });

  test.each([
    ["cloud", "where nothing is reached", withoutNetwork],
    ["cloud", "where nobody answers", inSilence],
    ["dev", "where no lab is, and none is started", withoutNetwork],
  ] as const)("U2 shows every resource that the program knows, to a program: %s, %s", async (name, _, within) => {
    const preview = await bench.npmWith({ within: within() }, "preview", name, "--json");
    expect(preview).toMatchObject({ code: 0 });
    const { steps } = JSON.parse(preview.stdout);
    expect(steps.map(({ op }: { op: string }) => op)).toEqual(steps.map(() => "create"));
    expect(listed(steps.map(({ urn }: { urn: string }) => urn))).toEqual(resources[name]);
  });
});
