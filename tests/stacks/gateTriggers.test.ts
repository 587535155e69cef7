// What the gates of a whole cluster are waited at again for, as the engine is told it.
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { deployCluster } from "../../stacks/cluster.ts";
import { parseClusterConfig } from "../../stacks/config.ts";
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
      if (type.endsWith(":NodeConfiguration")) return { ...inputs, configHash: "the-hash" };
      if (type.includes("/gates:")) return { ...inputs, evidence: { revisions: {} }, waited: 1 };
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

describe("what a gate stands for", () => {
  const vip = { "network.vip": "10.0.0.20", "network.vipBy": "kube-vip" };
  const services = (announce: string, ...interfaces: string[]) => ({
    services: { announce, addresses: ["10.0.0.128/30"], interfaces },
  });

  test("S4.4 is at the virtual address the link that kube-vip answers for Services on, where it does", async () => {
    const of = async (changes: object) => (await gates("existing", { ...vip, ...changes })).VirtualAddress?.triggers;
    const eth0 = await of(services("kube-vip", "eth0"));
    expect(await of(services("kube-vip", "eth1"))).not.toEqual(eth0);
    expect(await of(services("kube-vip"))).not.toEqual(eth0);
    const byCilium = await of(services("cilium", "eth0"));
    expect(await of(services("cilium", "eth1"))).toEqual(byCilium);
  });

  test("is told as a secret, and as a hash, where it is one", async () => {
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

    test("shows no other token: there is none to compare", async () => {
      const { NodesReady, CsiReady, CiliumReady } = await gates("cloud", {}, true);
      expect([NodesReady, CsiReady].map((gate) => gate?.ignoreChanges)).toEqual(Array(2).fill(["secretTriggers"]));
      expect(CiliumReady?.ignoreChanges).toEqual([]);
    });
  });
});
