// Three control planes whose components get other settings without a reboot: one API server at a time, and none after one that fails.
import { afterAll, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { Chain } from "../lab/support/chain.ts";

jest.setTimeout(900_000);

const off = { enabled: false };
const apiServer = "kube-system/kube-apiserver";

describe("three control planes (S5.4)", () => {
  let chain: Chain;
  /** Where in the facts the change started. */
  let began = 0;
  beforeAll(async () => {
    chain = await Chain.of({ controlPlanes: 3, config: { csi: off, flux: off, sealedSecrets: off } });
    await chain.up();
  });
  afterAll(() => chain?.down());

  const change = (patch: object | undefined) => {
    began = chain.lab.facts.all.length;
    chain.configure({ patches: patch === undefined ? [] : [{ name: "own", patch }] });
  };
  const since = () => chain.lab.facts.all.slice(began);
  /** The control planes that got another config since then, in that order. */
  const configured = () =>
    since().flatMap(({ subject, what, value }) => (what === "config" && value === "applied" ? subject : []));
  /** When the pod of a node was ready since then, by the numbers of the facts. */
  const ready = (node: string, pod: string) =>
    since().find(
      ({ subject, what, value, detail }) =>
        subject === node && what === "pod" && value === "ready" && detail?.pod?.startsWith(pod),
    )?.seq;
  const configuredAt = (node: string) =>
    since().find(({ subject, what, value }) => subject === node && what === "config" && value === "applied")?.seq;

  test.each([
    ["the API server", { apiServer: { extraArgs: { "audit-log-maxage": "7" } } }, [apiServer]],
    [
      "the controller manager",
      { controllerManager: { extraArgs: { v: "1" } } },
      ["kube-system/kube-controller-manager"],
    ],
  ])(
    "get other settings of %s one after the other, each when it serves on the one before [C9]",
    async (_what, cluster, pods) => {
      change({ cluster });
      await chain.up();
      const nodes = configured();
      expect(nodes.toSorted()).toEqual(["test-cp-1", "test-cp-2", "test-cp-3"]);
      for (const [place, node] of nodes.entries()) {
        const next = nodes[place + 1];
        for (const pod of pods) {
          expect({ node, pod, ready: ready(node, pod) }).toEqual({ node, pod, ready: expect.any(Number) });
          if (next !== undefined) expect(ready(node, pod)).toBeLessThan(configuredAt(next) ?? 0);
        }
      }
    },
  );

  let first: string | undefined;

  test("S1.7(10) stop at the first one whose API server does not know its flag, which is named, and the cluster keeps serving", async () => {
    change({ cluster: { apiServer: { extraArgs: { "no-such-flag": "yes" } } } });
    const { code, stdout, seconds } = await chain.run("up");
    expect(code).not.toBe(0);
    [first] = configured();
    expect(configured()).toEqual([first]);
    expect(stdout).toMatch(/SLU-T216 A control plane does not serve with its new settings/);
    expect(stdout).toContain(`where:      ${first?.replace("test-", "")},`);
    expect(stdout).toMatch(/kube-apiserver: container kube-apiserver: .*unknown flag: --no-such-flag/);
    expect(stdout).toMatch(/changed: .*cluster\.apiServer\.extraArgs/);
    expect(stdout).toMatch(/not changed, because another control plane failed: /);
    expect(seconds).toBeLessThan(150);
    // The kubeconfig names the first control plane, which may be the one that fails.
    const other = chain.nodes.find((node) => node !== first);
    const { servers } = await chain.cloud.call("GET", `/servers?name=${other}`);
    await chain.kubectl("--server", `https://${servers[0].public_net.ipv4.ip}:6443`, "get", "nodes");
  });

  test("S1.7(10) stop there again in the next run, with the same words", async () => {
    const { code, stdout } = await chain.run("up");
    expect(code).not.toBe(0);
    expect(configured()).toEqual([first]);
    expect(stdout).toMatch(/unknown flag: --no-such-flag/);
  });

  test("all serve again once the API server's flag is removed", async () => {
    change(undefined);
    await chain.up();
    expect(configured()).toContain(first);
    expect(first && ready(first, apiServer)).toEqual(expect.any(Number));
  });

  test("S1.7(10) stop at the first one whose kubelet does not know its flag, which is named, in this run and the next", async () => {
    change({ machine: { kubelet: { extraArgs: { "no-such-flag": "yes" } } } });
    for (const _run of ["this", "the next"]) {
      const { code, stdout, seconds } = await chain.run("up");
      expect(code).not.toBe(0);
      [first] = configured();
      expect(configured()).toEqual([first]);
      expect(stdout).toMatch(/SLU-T216 A control plane does not serve with its new settings/);
      expect(stdout).toContain(`where:      ${first?.replace("test-", "")},`);
      expect(stdout).toMatch(/kubelet: ended: failed to parse kubelet flag: unknown flag: --no-such-flag/);
      expect(seconds).toBeLessThan(150);
    }
  });

  test("S1.6 get their old config again by a plain up once the file is as it was, although the state never had the failed one", async () => {
    change(undefined);
    const { stdout } = await chain.up();
    expect(stdout).toMatch(/test-\S+ .*its last update failed, so it is made again/);
    expect(configured()).toEqual([first]);
    const { address = "" } = chain.listed.find(({ name }) => chain.server(name) === first) ?? {};
    const config = await chain.talosctl("--nodes", address, "get", "machineconfig", "v1alpha1", "--output", "yaml");
    expect(config).not.toContain("no-such-flag");
    expect((await chain.up()).steps).toEqual([]);
  });
});
