// The triggers of gates, as the engine receives them for a complete cluster.
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { deployCluster } from "../../stacks/cluster.ts";
import { parseClusterConfig } from "../../stacks/config/config.ts";
import { type MockOptions, record } from "../support/mocks.ts";
import { type Base, changed, rawConfig } from "../support/rawConfig.ts";
import { talosMocks } from "../support/talosMocks.ts";

/** The gates of an environment, by name. */
async function gates(base: Base, changes: Readonly<Record<string, unknown>>, preview = false) {
  const raw = Object.entries(changes).reduce((config, [path, to]) => changed(config, path, to), rawConfig(base));
  const config = parseClusterConfig(raw);
  const options: MockOptions = {
    ...talosMocks,
    preview,
    state: (resource) => {
      const { type, inputs } = resource;
      if (type.endsWith(":AppliedMachineConfig")) return { ...inputs, configHash: "the-hash", joins: 0 };
      if (type.includes("/gates:")) return { ...inputs, evidence: { revisions: {} }, waitedSeconds: 1 };
      return talosMocks.state?.(resource) ?? inputs;
    },
  };
  const { resources } = await record(() => deployCluster(config), options);
  const found = resources.filter(({ type }) => type.includes("/gates:"));
  return Object.fromEntries(
    found.map(({ type, inputs, ignoreChanges }) => {
      const { triggers, secretTriggers } = inputs as Readonly<Record<string, unknown>>;
      return [type.split(":").at(-1) ?? "", { triggers, secretTriggers, ignoreChanges }];
    }),
  );
}

describe("the triggers of a gate", () => {
  const vip = { "network.vip": "10.0.0.20", "network.vipBy": "kube-vip" };
  const services = (announce: string, ...interfaces: string[]) => ({
    services: { announce, addresses: ["10.0.0.128/30"], interfaces },
  });

  test("S4.4 VirtualAddress has the interface for Services among its triggers if kube-vip answers for them", async () => {
    const of = async (changes: object) => (await gates("existing", { ...vip, ...changes })).VirtualAddress?.triggers;
    const eth0 = await of(services("kube-vip", "eth0"));
    expect(await of(services("kube-vip", "eth1"))).not.toEqual(eth0);
    expect(await of(services("kube-vip"))).not.toEqual(eth0);
    const byCilium = await of(services("cilium", "eth0"));
    expect(await of(services("cilium", "eth1"))).toEqual(byCilium);
  });

  test("secrets are passed as secrets, and as hashes", async () => {
    const flux = { url: "https://git.example.org/home.git" };
    const { GitOpsReady } = await gates("existing", { flux, fluxGitPassword: "geheim" });
    const hash = expect.stringMatching(/^[0-9a-f]{64}$/);
    expect(GitOpsReady?.secretTriggers).toEqual({ secret: [hash, hash, hash] });
    expect(GitOpsReady?.ignoreChanges).toEqual([]);
  });

  describe("U2 in a preview without the account", () => {
    const { HCLOUD_TOKEN } = process.env;
    beforeAll(() => {
      delete process.env.HCLOUD_TOKEN;
    });
    afterAll(() => {
      if (HCLOUD_TOKEN !== undefined) process.env.HCLOUD_TOKEN = HCLOUD_TOKEN;
    });

    test("gates ignore a change of the secret triggers, because there is no token to compare", async () => {
      const { NodesReady, CsiReady, CiliumReady } = await gates("cloud", {}, true);
      expect([NodesReady, CsiReady].map((gate) => gate?.ignoreChanges)).toEqual(Array(2).fill(["secretTriggers"]));
      expect(CiliumReady?.ignoreChanges).toEqual([]);
    });
  });
});
