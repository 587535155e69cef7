// What a pull request's check does: a preview with no account, no cluster, no network, and nothing in the user's home.
import { afterAll, describe, expect, jest, test } from "@jest/globals";
import { listed, Workbench } from "../support/cli.ts";
import { cloudShape, devShape, hetznerResources, sealingKey } from "../support/hetznerResources.ts";
import { homeNodes, proxmoxResources } from "../support/proxmoxResources.ts";
import { inSilence, withoutNetwork } from "../support/withoutNetwork.ts";

jest.setTimeout(180_000);

const bench = new Workbench({ fresh: true });
afterAll(() => bench.remove());

/** Every resource of the program, by environment. */
const resources = {
  home: proxmoxResources("home", homeNodes),
  cloud: hetznerResources("cloud", cloudShape),
  dev: [...hetznerResources("dev", devShape), sealingKey].sort(),
};

const unasked = (title: string, reason: string) =>
  `sluice: not checked whether ${title} has what this environment names: ${reason}\n`;

/** As long as Hetzner's: the plugin checks the length. */
const withToken = ["env", `HCLOUD_TOKEN=${"x".repeat(64)}`];

const uncapitalized = (text: string) => `${text[0]?.toLowerCase()}${text.slice(1)}`;

describe("a preview without an account, a cluster and a network", () => {
  test("U2 shows every resource of the program: home", async () => {
    const preview = await bench.npmWith({ within: withoutNetwork() }, "preview", "home");
    expect(preview).toMatchObject({ code: 0, stderr: unasked("Proxmox", "no token: PROXMOX_VE_API_TOKEN is not set") });
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
    ["cloud", "where nothing is reached, with a token", withoutNetwork, withToken, /.* does not answer: .*/],
    ["cloud", "where nobody answers", inSilence, [], /no token: HCLOUD_TOKEN is not set/],
    ["dev", "where no lab is, and none is started", withoutNetwork, [], /the lab 'default' is not running/],
  ] as const)("U2 shows every resource of the program, as JSON: %s, %s [C31]", async (name, _, within, env, reason) => {
    const preview = await bench.npmWith({ within: [...within(), ...env] }, "preview", name, "--json");
    const stderr = expect.stringMatching(new RegExp(`^${unasked("Hetzner", reason.source)}$`));
    expect(preview).toMatchObject({ code: 0, stderr });
    const { steps } = JSON.parse(preview.stdout);
    expect(steps.map(({ op }: { op: string }) => op)).toEqual(steps.map(() => "create"));
    expect(listed(steps.map(({ urn }: { urn: string }) => urn))).toEqual(resources[name]);
  });
});
