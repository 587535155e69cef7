import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { KubernetesObjects } from "../../../components/kubernetes/kubernetesObjects.ts";
import { type KubernetesCalls, takeUpgradeLease } from "../../../components/upgrade/upgradeLease.ts";
import { pause, systemClock } from "../../../components/waiting/clock.ts";
import { FakeKubernetes } from "./fakeKubernetes.ts";

const path = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/sluice-upgrade";
let kubernetes: FakeKubernetes;
let calls: KubernetesCalls;
beforeEach(async () => {
  kubernetes = new FakeKubernetes();
  await kubernetes.server.start();
  calls = (call) => call(new KubernetesObjects(kubernetes.server.kubeconfig(), systemClock));
});
afterEach(() => kubernetes.server.stop());

/** A minute of its waits takes 60 ms. */
const clock = {
  now: () => systemClock.now() * 1000,
  after: (milliseconds: number, call: () => void) => systemClock.after(milliseconds / 1000, call),
};
const said: string[] = [];
const take = () => takeUpgradeLease(calls, { clock, report: (text) => said.push(text) });
const holder = () => (kubernetes.objects.get(path)?.spec as { holderIdentity?: string } | undefined)?.holderIdentity;

describe("S8.3 the lease of an upgrade", () => {
  test("is taken, renewed and ended", async () => {
    const lease = await take();
    expect(holder()).toMatch(/^\S+@\S+ [0-9a-f]{8}$/);
    const first = kubernetes.objects.get(path)?.metadata.resourceVersion;
    await pause(systemClock, 60);
    expect(kubernetes.objects.get(path)?.metadata.resourceVersion).not.toBe(first);
    expect(() => lease.check()).not.toThrow();
    await lease.end();
    expect(holder()).toBeUndefined();
  });

  test("is refused while another run renews it, and names that run", async () => {
    const lease = await take();
    const name = holder();
    await expect(take()).rejects.toThrow(
      `SLU-T409 Another run upgrades this cluster\n  seen:       ${name} renews its lease`,
    );
    expect(said.at(-1)).toContain(`${name} upgrades this cluster, or did until it was ended`);
    await lease.end();
  });

  test("is taken over from a run that was killed, once that has not renewed it for a minute", async () => {
    kubernetes.put(path, { spec: { holderIdentity: "someone@elsewhere 1", renewTime: "long ago" } });
    const began = clock.now();
    const lease = await take();
    expect(clock.now() - began).toBeGreaterThanOrEqual(60_000);
    expect(holder()).not.toBe("someone@elsewhere 1");
    await lease.end();
  });

  test("that another run has taken over stops this one, and is left to the other", async () => {
    const lease = await take();
    kubernetes.put(path, { spec: { holderIdentity: "someone@elsewhere 1", renewTime: "now" } });
    await pause(systemClock, 60);
    expect(() => lease.check()).toThrow("someone@elsewhere 1 renews its lease kube-system/sluice-upgrade");
    await lease.end();
    expect(holder()).toBe("someone@elsewhere 1");
  });

  test("has one winner if two runs find it free at the same moment", async () => {
    const results = await Promise.allSettled([take(), take()]);
    const taken = results.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
    expect(taken).toHaveLength(1);
    await taken[0]?.end();
  });

  test("is kept while the Kubernetes API does not answer", async () => {
    const lease = await take();
    const { answer } = kubernetes.server;
    kubernetes.server.answer = (_, response) => void response.writeHead(503).end("{}");
    await pause(systemClock, 60);
    expect(() => lease.check()).not.toThrow();
    kubernetes.server.answer = answer;
    await lease.end();
    expect(holder()).toBeUndefined();
  });
});
