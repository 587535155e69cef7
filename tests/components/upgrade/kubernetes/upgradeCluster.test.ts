import { status } from "@grpc/grpc-js";
import { describe, expect, test } from "@jest/globals";
import { kubernetesImages } from "../../../../components/talos/config/kubernetesImages.ts";
import { failure, refusal, unavailable } from "../../talos/fakeNodes.ts";
import { FakeKubernetes } from "./fakeKubernetes.ts";

const serverOf = (node: string, version: string) => `${node} kube-apiserver ${version}`;
const others = (node: string, version: string) => [
  `${node} kube-controller-manager ${version}`,
  `${node} kube-scheduler ${version}`,
];
const upgraded = (node: string, version: string) => [serverOf(node, version), ...others(node, version)];

describe("S8.3 an upgrade of Kubernetes", () => {
  test("changes API servers one at a time, each before the others of its node, and kubelets last [C8]", async () => {
    const world = new FakeKubernetes("1.35.4");
    const seconds = await world.upgrade("1.36.1").run();
    expect(world.events.filter((event) => event.endsWith("1.36.1"))).toEqual([
      ...["cp-1", "cp-2", "cp-3"].flatMap((name) => upgraded(name, "1.36.1")),
      ...["cp-1", "cp-2", "cp-3", "w-1", "w-2"].map((name) => `${name} kubelet 1.36.1`),
    ]);
    expect(world.violations).toEqual([]);
    expect(Object.keys(seconds).sort()).toEqual(["cp-1", "cp-2", "cp-3", "w-1", "w-2"]);
    expect(world.noted).toEqual(["Kubernetes 1.35.4 -> 1.36.1 on 5 nodes"]);
  });

  test("changes the images in the running configs, and nothing else", async () => {
    const world = new FakeKubernetes("1.35.4", ["cp-1", "w-1"]);
    const before = world.node("cp-1").running ?? "";
    await world.upgrade("1.36.1").run();
    expect(world.node("cp-1").running).toBe(before.replaceAll("v1.35.4", "v1.36.1"));
  });

  test("keeps the registry that a node runs from", async () => {
    const world = new FakeKubernetes("1.35.4", ["cp-1", "w-1"]);
    const node = world.node("w-1");
    node.running = node.running?.replace("ghcr.io/siderolabs", "mirror:5000");
    await world.upgrade("1.36.1").run();
    expect(kubernetesImages(node.running ?? "").kubelet).toBe("mirror:5000/kubelet:v1.36.1");
    expect(node.installer.pulled).toEqual(["ghcr.io/siderolabs/kubelet:v1.36.1"]);
  });

  test("changes no node where all run the version, and applies the manifests: an earlier run may have ended before that", async () => {
    const world = new FakeKubernetes("1.35.4");
    expect(await world.upgrade("1.35.4").run()).toEqual({});
    expect(world.said).toContain("applies the manifests of Talos");
    expect([...world.nodes.values()].flatMap(({ calls }) => calls)).toEqual([]);
  });

  test("leaves nodes without a config, and a cluster that was never bootstrapped, to their configs", async () => {
    const world = new FakeKubernetes("1.35.4");
    for (const node of world.nodes.values()) {
      if (node.name.startsWith("cp")) node.etcd = { state: "Preparing", healthy: false };
    }
    expect(await world.upgrade("1.36.1").run()).toEqual({});
    for (const node of world.nodes.values()) node.kind = "maintenance";
    expect(await world.upgrade("1.36.1").run()).toEqual({});
    expect([...world.nodes.values()].flatMap(({ calls }) => calls)).toEqual([]);
  });

  test("leaves a cluster that somebody has upgraded, if nobody asks for another version", async () => {
    const world = new FakeKubernetes("1.36.1");
    expect(await world.upgrade("1.35.4").run({ onlyIfOlder: true })).toEqual({});
    expect(await failure(world.upgrade("1.35.4").run())).toMatch(
      /SLU-T214.*\n?.*runs 1\.36\.1, and would run 1\.35\.4/s,
    );
  });

  test("goes to another patch release, also an earlier one", async () => {
    const world = new FakeKubernetes("1.35.4", ["cp-1", "w-1"]);
    await world.upgrade("1.35.2").run();
    expect(world.events.at(-1)).toBe("w-1 kubelet 1.35.2");
  });

  test("changes workers in lanes, after the first one", async () => {
    const world = new FakeKubernetes("1.35.4", ["cp-1", "w-1", "w-2", "w-3"]);
    await world.upgrade("1.36.1", { parallel: 2 }).run();
    const said = world.said.filter((text) => / kubelet \d of /.test(text) || /: kubelet/.test(text));
    expect(said.some((text) => text.includes("w-2: kubelet") && text.includes("w-3: kubelet"))).toBe(true);
    expect(said.some((text) => text.includes("w-1: kubelet") && text.includes("w-2: kubelet"))).toBe(false);
  });
});

describe("S8.3 an upgrade of Kubernetes is refused, and nothing is changed,", () => {
  const refused = async (world: FakeKubernetes, to: string, changes = {}) => {
    const message = await failure(world.upgrade(to, changes).run());
    expect([...world.nodes.values()].flatMap(({ calls }) => calls.filter((call) => call.startsWith("apply")))).toEqual(
      [],
    );
    return message;
  };

  test("if the lowest version is more than one minor version away", async () => {
    const world = new FakeKubernetes("1.35.4");
    const node = world.node("w-2");
    node.kubelet.spec = { image: "ghcr.io/siderolabs/kubelet:v1.34.1" };
    expect(await refused(world, "1.36.1")).toMatch(/SLU-T214.*kubelet of w-2.*runs 1\.34\.1/s);
  });

  test("if Talos does not support the version", async () => {
    const world = new FakeKubernetes("1.35.4");
    world.node("w-2").version = "1.12.6";
    expect(await refused(world, "1.36.1")).toMatch(/SLU-K301.*w-2: Talos 1\.12\.6 does not run Kubernetes 1\.36\.1/s);
  });

  test("if a removed gate is set, with its nodes", async () => {
    const world = new FakeKubernetes("1.35.4");
    for (const name of ["cp-1", "cp-3"]) {
      const { spec } = world.node(name).pods.get("kube-apiserver") ?? {};
      const [container] = (spec as { containers: { command: string[] }[] }).containers;
      container?.command.push("--feature-gates=MemoryManager=true");
    }
    world.node("w-1").kubelet.spec = {
      image: "ghcr.io/siderolabs/kubelet:v1.35.4",
      args: [],
      config: { featureGates: { TopologyAwareHints: true } },
    };
    const message = await refused(world, "1.36.1");
    expect(message).toContain("kube-apiserver: feature gate MemoryManager (removed in 1.36), set on cp-1, cp-3");
    expect(message).toContain("kubelet: feature gate TopologyAwareHints (removed in 1.36), set on w-1");
  });

  test("if a removed API is still asked for, by whom, unless that is accepted", async () => {
    const world = new FakeKubernetes("1.35.4", ["cp-1", "cp-2"]);
    const labels = 'group="example.org",removed_release="1.36",resource="things",subresource="",version="v1beta1"';
    world.texts.set("cp-2 /metrics", `apiserver_requested_deprecated_apis{${labels}} 1\n`);
    const managedFields = [{ manager: "helm", apiVersion: "example.org/v1beta1" }];
    world.lists.set("/apis/example.org/v1beta1/things", [{ metadata: { name: "one", managedFields } }]);
    const message = await refused(world, "1.36.1");
    expect(message).toContain(
      "things.v1beta1.example.org (removed in 1.36): the API server of cp-2 was asked for it; objects were written by helm (one)",
    );
    expect(message).toContain("upgrade.acceptRemovedApis");
    await world.upgrade("1.36.1", { acceptRemovedApis: ["things.v1beta1.example.org"] }).run();
    expect(world.versionAt("cp-2")).toBe("1.36.1");
  });

  test("if a node cannot pull an image, with all such nodes", async () => {
    const world = new FakeKubernetes("1.35.4");
    for (const name of ["cp-2", "w-1"]) {
      world.node(name).fail("pull", () => {
        throw refusal(status.NOT_FOUND, "manifest unknown");
      });
    }
    const message = await refused(world, "1.36.1");
    expect(message).toMatch(/SLU-K303/);
    expect(message).toContain("cp-2");
    expect(message).toContain("w-1");
    expect(message).toContain("manifest unknown");
  });

  test("if a node does not answer", async () => {
    const world = new FakeKubernetes("1.35.4");
    world.node("w-2").kind = "unreachable";
    expect(await refused(world, "1.36.1")).toMatch(/SLU-T101.*w-2.*Nothing was changed/s);
  });

  test("if a backup fails", async () => {
    const world = new FakeKubernetes("1.35.4");
    const backup = { place: {}, recipients: [], keep: 1, cluster: {}, machineSecrets: "" } as never;
    expect(await refused(world, "1.36.1", { backup })).toMatch(/SLU-B107/);
  });
});

describe("S8.3 an upgrade of Kubernetes that fails", () => {
  const locked =
    'E1120 07:27:40 5555 run.go:72] "command failed" err="cannot set feature gate KubeletPSI to false, feature is locked to true"';

  test("stops at the first control plane, names the flag, and sets that control plane back", async () => {
    const world = new FakeKubernetes("1.35.4");
    world.crashes.set(serverOf("cp-1", "1.36.1"), locked);
    const message = await failure(world.upgrade("1.36.1").run());
    expect(message).toMatch(/SLU-K304/);
    expect(message).toContain("cannot set feature gate KubeletPSI to false, feature is locked to true");
    expect(message).toContain("cp-1 was set back to 1.35.4, and is healthy");
    expect(message).toContain("now cp-1, cp-2, cp-3, w-1, w-2: 1.35.4");
    expect(["cp-1", "cp-2", "cp-3"].map((name) => world.versionAt(name))).toEqual(["1.35.4", "1.35.4", "1.35.4"]);
    expect(world.node("cp-2").calls).not.toContain("apply NO_REBOOT");
    expect(world.violations).toEqual([]);
  });

  test("sets back a controller manager without its API server, which serves", async () => {
    const world = new FakeKubernetes("1.35.4");
    world.crashes.set("cp-1 kube-controller-manager 1.36.1", "Error: unknown flag: --gone");
    const message = await failure(world.upgrade("1.36.1").run());
    expect(message).toContain("Error: unknown flag: --gone");
    expect(world.versionAt("cp-1")).toBe("1.36.1");
    expect(message).toContain(
      "cp-1: kube-apiserver 1.36.1, kube-controller-manager and kube-scheduler and kubelet 1.35.4",
    );
    expect(world.violations).toEqual([]);
    // Once its cause is gone, the next run continues where this one ended.
    world.crashes.clear();
    await world.upgrade("1.36.1").run();
    expect(world.events.at(-1)).toBe("w-2 kubelet 1.36.1");
    expect(world.violations).toEqual([]);
  });

  test("returns to the former version, if no kubelet has the new one", async () => {
    const world = new FakeKubernetes("1.35.4");
    world.crashes.set("cp-2 kube-controller-manager 1.36.1", "Error: unknown flag: --gone");
    await failure(world.upgrade("1.36.1").run());
    expect(["cp-1", "cp-2", "cp-3"].map((name) => world.versionAt(name))).toEqual(["1.36.1", "1.36.1", "1.35.4"]);
    await world.upgrade("1.35.4").run();
    expect(["cp-1", "cp-2", "cp-3"].map((name) => world.versionAt(name))).toEqual(["1.35.4", "1.35.4", "1.35.4"]);
    expect(world.noted).toEqual(["Kubernetes 1.36.1 -> 1.35.4 on 5 nodes"]);
    expect(world.violations).toEqual([]);
  });

  test("returns where an earlier run left the new version crashing", async () => {
    const world = new FakeKubernetes("1.35.4", ["cp-1", "w-1"]);
    world.crashes.set(serverOf("cp-1", "1.36.1"), locked);
    const node = world.node("cp-1");
    node.running = node.running?.replace("kube-apiserver:v1.35.4", "kube-apiserver:v1.36.1");
    node.persistent = node.running;
    node.boot();
    await new Promise<void>((done) => world.clock.after(10_000, done));
    await world.upgrade("1.35.4").run();
    expect([world.versionAt("cp-1"), world.isServing("cp-1")]).toEqual(["1.35.4", true]);
  });

  test("sets back what an earlier run left crashing, although no API server answers", async () => {
    const world = new FakeKubernetes("1.35.4", ["cp-1", "w-1"]);
    world.crashes.set(serverOf("cp-1", "1.36.1"), locked);
    const node = world.node("cp-1");
    // The earlier run was killed after it had sent the config.
    node.running = node.running?.replace("kube-apiserver:v1.35.4", "kube-apiserver:v1.36.1");
    node.persistent = node.running;
    node.boot();
    await new Promise<void>((done) => world.clock.after(10_000, done));
    const message = await failure(world.upgrade("1.36.1").run());
    expect(message).toMatch(/SLU-K304.*KubeletPSI.*cp-1 was set back to 1\.35\.4/s);
    expect(world.isServing("cp-1")).toBe(true);
  });

  test("stops if pods of a node do not recover, and resumes once they have", async () => {
    const world = new FakeKubernetes("1.35.4", ["cp-1", "w-1", "w-2"]);
    const pod = (isReady: boolean) => ({
      metadata: { name: "web-1", namespace: "default", uid: "1" },
      status: { phase: "Running", conditions: [{ type: "Ready", status: isReady ? "True" : "False" }] },
    });
    world.workload.set("w-1", [pod(true)]);
    world.onEvent = (event) => {
      if (event === "w-1 kubelet 1.36.1") world.workload.set("w-1", [pod(false)]);
    };
    const message = await failure(world.upgrade("1.36.1").run());
    expect(message).toMatch(/SLU-K305.*w-1.*pods that were ready before are not ready again: pod web-1/s);
    expect(world.reported.get("w-2")).toBe("1.35.4");
    world.workload.clear();
    await world.upgrade("1.36.1").run();
    expect(world.reported.get("w-2")).toBe("1.36.1");
  });

  test.each(["apply", "list", "get", "version"])("retries where a call gets no answer: %s", async (call) => {
    const world = new FakeKubernetes("1.35.4", ["cp-1", "w-1"]);
    const lost = () => {
      throw unavailable();
    };
    for (const node of world.nodes.values()) node.fail(call, lost);
    await world.upgrade("1.36.1").run();
    expect(world.events.at(-1)).toBe("w-1 kubelet 1.36.1");
  });

  test("reports which node runs what when it is interrupted, and starts nothing more", async () => {
    const world = new FakeKubernetes("1.35.4");
    const interruption = new AbortController();
    Object.assign(world, { interrupted: interruption.signal });
    world.onEvent = (event) => {
      if (event === serverOf("cp-1", "1.36.1")) interruption.abort();
    };
    const message = await failure(world.upgrade("1.36.1").run());
    expect(message).toMatch(/Interrupted while Kubernetes was upgraded/);
    expect(message).toContain("cp-2, cp-3, w-1, w-2: 1.35.4");
    expect(world.node("cp-2").calls).not.toContain("apply NO_REBOOT");
  });
});
