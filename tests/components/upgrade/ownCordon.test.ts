import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { KubernetesObjects } from "../../../components/kubernetes/kubernetesObjects.ts";
import { cordonForUpgrade, endOwnCordon } from "../../../components/upgrade/ownCordon.ts";
import { systemClock } from "../../../components/waiting/clock.ts";
import { FakeKubernetes } from "./fakeKubernetes.ts";

const path = "/api/v1/nodes/w-1";
let kubernetes: FakeKubernetes;
let objects: KubernetesObjects;
beforeEach(async () => {
  kubernetes = new FakeKubernetes();
  await kubernetes.server.start();
  objects = new KubernetesObjects(kubernetes.server.kubeconfig(), systemClock);
});
afterEach(() => kubernetes.server.stop());
const node = () =>
  kubernetes.objects.get(path) as { spec?: { unschedulable?: boolean }; metadata: { annotations?: object } };

describe("S8.3 the cordon of an upgrade", () => {
  test("is recognized by a later run, and ended", async () => {
    kubernetes.put(path, { metadata: { annotations: { other: "kept" } }, spec: { podCIDR: "kept" } });
    expect(await cordonForUpgrade(objects, "w-1")).toBe("own");
    expect(node().spec).toEqual({ podCIDR: "kept", unschedulable: true });
    expect(await cordonForUpgrade(objects, "w-1")).toBe("own");
    await endOwnCordon(objects, "w-1");
    expect([node().spec, node().metadata.annotations]).toEqual([{ podCIDR: "kept" }, { other: "kept" }]);
    expect(kubernetes.writes).toEqual([`PATCH ${path}`, `PATCH ${path}`]);
  });

  test("does not end the cordon of a user", async () => {
    kubernetes.put(path, { spec: { unschedulable: true } });
    expect(await cordonForUpgrade(objects, "w-1")).toBe("other");
    await endOwnCordon(objects, "w-1");
    expect(node().spec).toEqual({ unschedulable: true });
    expect(kubernetes.writes).toEqual([]);
  });

  test("needs a Node object", async () => {
    expect(await cordonForUpgrade(objects, "w-1")).toBe("missing");
    await endOwnCordon(objects, "w-1");
    expect(kubernetes.writes).toEqual([]);
  });

  test("is refused if the Node has changed meanwhile, so that a user's cordon is not treated as an own one", async () => {
    kubernetes.put(path, {});
    const get = objects.get.bind(objects);
    objects.get = async <T>(at: string) => {
      const found = await get<T>(at);
      kubernetes.put(path, { spec: { unschedulable: true } });
      return found;
    };
    await expect(cordonForUpgrade(objects, "w-1")).rejects.toThrow("409 the object has been modified");
    objects.get = get;
    expect(await cordonForUpgrade(objects, "w-1")).toBe("other");
  });
});
