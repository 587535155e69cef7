// Kubernetes upgrades that are refused, fail, or are killed, on one cluster that goes from 1.34 to 1.36.
import { afterAll, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { mostServersDown } from "../lab/support/apiServers.ts";
import { Chain } from "../lab/support/chain.ts";
import type { Wanted } from "../lab/support/facts.ts";

jest.setTimeout(900_000);

const off = { enabled: false };

describe("three control planes and a worker (S8.3)", () => {
  let chain: Chain;
  /** The number of the last fact before a test. */
  let began = 0;
  beforeAll(async () => {
    const config = { talosVersion: "1.14.1", kubernetesVersion: "1.34.6", csi: off, flux: off, sealedSecrets: off };
    chain = await Chain.of({ platform: "existing", controlPlanes: 3, workers: 1, config });
    await chain.up();
  });
  afterAll(() => chain?.down());

  const since = () => chain.lab.facts.all.filter(({ seq }) => seq > began);
  const begin = (changes: object) => {
    began = chain.lab.facts.all.at(-1)?.seq ?? 0;
    chain.configure({ ...changes });
  };
  const applied = () => since().filter(({ what, value }) => what === "config" && value === "applied");
  const kubelets = async () => {
    const path = "jsonpath={range .items[*]}{.metadata.name}={.status.nodeInfo.kubeletVersion} {end}";
    return (await chain.kubectl("get", "nodes", "--output", path)).trim().split(" ");
  };
  const all = (version: string) => ["cp-1", "cp-2", "cp-3", "w-1"].map((name) => `${name}=v${version}`);
  const controlPlanes = () => chain.nodes.filter((name) => name.includes("cp-"));
  /** What must be true of every run, however it ended. */
  const neverUnsafe = () => {
    expect(since().filter(({ what }) => what === "skew")).toEqual([]);
    expect(mostServersDown(chain.lab.facts.all, controlPlanes(), began)).toBeLessThanOrEqual(1);
  };

  test("S8.3 refuses two minor versions at once, in the preview and in the run [C8]", async () => {
    begin({ kubernetesVersion: "1.36.4" });
    for (const command of ["preview", "up"] as const) {
      const { code, stdout } = await chain.run(command);
      expect(code).not.toBe(0);
      expect(stdout).toMatch(/SLU-T214 Kubernetes cannot change to this version in one step/);
      expect(stdout).toMatch(/set kubernetesVersion to a release of 1\.35/);
    }
    expect(applied()).toEqual([]);
  });

  test("S8.3 refuses a version whose image one node cannot pull, and changes no node", async () => {
    begin({ kubernetesVersion: "1.35.4" });
    const missing = await chain.lab.fault({ on: "image", name: "*/kubelet:v1.35.4", subject: "test-w-1", do: "fail" });
    const { code, stdout } = await chain.run("up");
    await chain.lab.endFault(missing);
    expect(code).not.toBe(0);
    expect(stdout).toMatch(/SLU-K303 A node cannot pull an image of Kubernetes/);
    expect(stdout).toMatch(/w-1: \S+kubelet:v1\.35\.4: .*not found/);
    expect(applied()).toEqual([]);
  });

  /** The moments at which a run is killed, in the order in which they come. */
  const moments: readonly (readonly [string, Wanted])[] = [
    ["while images are pulled", { what: "image", value: "ghcr.io/siderolabs/kubelet:v1.35.4" }],
    ["when the first API server has its image", { subject: "test-cp-1", what: "config", value: "applied" }],
    ["when a second API server restarts", { subject: "test-cp-2", what: "config", value: "applied" }],
    [
      "when the last one serves",
      { subject: "test-cp-3", what: "pod", value: "ready", detail: { pod: "kube-system/kube-apiserver" } },
    ],
    ["when the first kubelet stops", { subject: "test-cp-1", what: "kubelet", value: "stopped" }],
    ["when the worker's kubelet registers", { subject: "test-w-1", what: "kubelet", value: "registered" }],
  ];

  test.each(moments)("S8.3 resumes after a run that was killed %s [C23]", async (_when, wanted) => {
    began = chain.lab.facts.all.at(-1)?.seq ?? 0;
    const up = chain.begin("up");
    const after = chain.lab.facts.all.at(-1);
    await chain.lab.until({ ...wanted, after }, 200_000).catch(async ({ message }: Error) => {
      throw new Error(`${message}\n${await up.stop("SIGKILL")}`);
    });
    await up.stop("SIGKILL");
    await chain.unlock();
    neverUnsafe();
  });

  test("S8.3 and ends with the version on all nodes, without ever having had two API servers down", async () => {
    const { stdout } = await chain.up();
    expect(await kubelets()).toEqual(all("1.35.4"));
    expect(stdout).not.toMatch(/SLU-/);
    neverUnsafe();
    expect((await chain.up()).steps).toEqual([]);
  });

  test("S8.3 stops at the first control plane whose API server refuses a setting, names it, and sets it back", async () => {
    // Locked from 1.36 on.
    const featureGates = { KubeletPSI: false };
    begin({ machine: { kubelet: { featureGates }, apiServer: { featureGates } } });
    await chain.up();
    begin({ kubernetesVersion: "1.36.4" });
    const { code, stdout } = await chain.run("up");
    expect(code).not.toBe(0);
    expect(stdout).toMatch(/SLU-K304 A component of Kubernetes does not start in its new version/);
    expect(stdout).toMatch(/cannot set feature gate KubeletPSI to false, feature is locked to true/);
    expect(stdout).toMatch(/cp-1 was set back to 1\.35\.4, and is healthy/);
    expect(stdout).toMatch(/now cp-1, cp-2, cp-3, w-1: 1\.35\.4/);
    expect([...new Set(applied().map(({ subject }) => subject))]).toEqual(["test-cp-1"]);
    expect(await kubelets()).toEqual(all("1.35.4"));
    neverUnsafe();
  });

  test("S8.3 continues once the setting is removed with the old version", async () => {
    begin({ kubernetesVersion: "1.35.4", machine: {} });
    await chain.up();
    expect(applied().length).toBeGreaterThan(0);
    neverUnsafe();
  });

  test("S8.3 returns to the old version from an upgrade that was killed at the second control plane", async () => {
    begin({ kubernetesVersion: "1.36.4" });
    const up = chain.begin("up");
    const after = chain.lab.facts.all.at(-1);
    await chain.lab.until({ subject: "test-cp-2", what: "config", value: "applied", after }, 200_000);
    await up.stop("SIGKILL");
    await chain.unlock();
    chain.configure({ kubernetesVersion: "1.35.4" });
    const { stdout } = await chain.up();
    expect(stdout).toMatch(/Kubernetes 1\.36\.4 -> 1\.35\.4 on 4 nodes/);
    expect(await chain.kubectl("get", "pods", "--namespace", "kube-system", "--output", "yaml")).not.toMatch(
      /kube-[a-z-]+:v1\.36/,
    );
    expect(await kubelets()).toEqual(all("1.35.4"));
    neverUnsafe();
  });

  test("S8.3 lets one of two users upgrade, and refuses the other", async () => {
    begin({ kubernetesVersion: "1.36.4" });
    const after = chain.lab.facts.all.at(-1);
    const first = chain.begin("up");
    await chain.lab.until({ subject: "test-cp-1", what: "config", value: "applied", after }, 200_000);
    const second = await chain.beginOfAnother().ends();
    const ended = await first.ends();
    expect(ended).toMatch(/Kubernetes 1\.35\.4 -> 1\.36\.4 on 4 nodes/);
    expect(second).toMatch(/SLU-T409 Another run upgrades this cluster/);
    expect(await kubelets()).toEqual(all("1.36.4"));
    neverUnsafe();
  });

  test("S8.3 refuses a version that no longer has an API that somebody asks for, and names the caller", async () => {
    // Beta versions are not served by default.
    const beta = { apiServer: { extraArgs: { "runtime-config": "networking.k8s.io/v1beta1=true" } } };
    begin({ patches: [{ name: "own", patch: { cluster: beta } }] });
    await chain.up();
    await chain.kubectl("get", "servicecidrs.v1beta1.networking.k8s.io");
    begin({ kubernetesVersion: "1.37.1" });
    for (const command of ["preview", "up"] as const) {
      const { code, stdout } = await chain.run(command);
      expect({ command, fails: code !== 0 }).toEqual({ command, fails: command === "up" });
      expect(stdout).toMatch(/SLU-K302 The new version of Kubernetes no longer has what the cluster uses/);
      expect(stdout).toMatch(
        /servicecidrs\.v1beta1\.networking\.k8s\.io \(removed in 1\.37\): the API server of cp-[-cp, \d]+ was asked for it by admin \(kubectl\S*\)/,
      );
    }
    expect(applied()).toEqual([]);
  });
});
