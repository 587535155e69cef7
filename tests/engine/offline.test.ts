// What a pull request's check does: a preview with no account, no cluster, no network, and nothing in the person's home.
import { afterAll, describe, expect, jest, test } from "@jest/globals";
import { listed, Workbench } from "../support/cli.ts";
import { cloudShape, devShape, hetznerResources, sealingKey } from "../support/hetznerResources.ts";
import { homeNodes, proxmoxResources } from "../support/proxmoxResources.ts";
import { inSilence, withoutNetwork } from "../support/withoutNetwork.ts";

jest.setTimeout(180_000);

const bench = new Workbench({ fresh: true });
afterAll(() => bench.remove());

/** Every resource that the program knows, by environment. */
const resources = {
  home: proxmoxResources("home", homeNodes),
  cloud: hetznerResources("cloud", cloudShape),
  dev: [...hetznerResources("dev", devShape), sealingKey].sort(),
};

const uncapitalized = (text: string) => `${text[0]?.toLowerCase()}${text.slice(1)}`;

describe("a preview without account, cluster and network", () => {
  test("U2 shows every resource that the program knows: home", async () => {
    const preview = await bench.npmWith({ within: withoutNetwork() }, "preview", "home");
    expect(preview).toMatchObject({ code: 0, stderr: "" });
    const created = [...preview.stdout.matchAll(/^ \+ {2}(\S+) (\S+) create /gm)]
      .map(([, type, name]) => `${type} ${name}`)
      .filter((line) => !line.startsWith("pulumi:providers:"));
    // The engine writes a type without the file that it is defined in, where that is called after it.
    const shown = resources.home.map((line) =>
      line.replace(/\/(\w+):(\w+) /, (all, file, type) => (file === uncapitalized(type) ? `:${type} ` : all)),
    );
    expect([...new Set(created)].sort()).toEqual(shown.sort());
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
