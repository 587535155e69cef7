import { afterEach, describe, expect, test } from "@jest/globals";
import { configureNode, type NodeTarget } from "../../../../components/talos/nodes/configureNode.ts";
import { standardRetry } from "../../../../components/waiting/retry.ts";
import { config, credentials, type FakeNode, FakeWorld } from "../fakeNodes.ts";

const names = ["kube-apiserver", "kube-controller-manager", "kube-scheduler"] as const;
const image = "registry.example.org/kube:1";

/** The status of a pod that was started at a time and serves, or whose container ends again and again. */
function pod(startTime: string, crashed?: { readonly times: number; readonly message: string }): object {
  const container = {
    name: "main",
    image,
    containerID: `containerd://${startTime}`,
    restartCount: crashed?.times ?? 0,
  };
  const ready = { type: "Ready", status: crashed === undefined ? "True" : "False" };
  const terminated = { exitCode: 1, reason: "Error", message: crashed?.message };
  const ends = { state: { waiting: { reason: "CrashLoopBackOff" } }, lastState: { terminated } };
  const status = crashed === undefined ? { ready: true, state: { running: {} } } : { ready: false, ...ends };
  return { phase: "Running", startTime, conditions: [ready], containerStatuses: [{ ...container, ...status }] };
}

let clusters = 0;
afterEach(() => {
  clusters += 1;
});

/** Three control planes that serve. */
function cluster(): { context: FakeWorld; nodes: readonly [FakeNode, FakeNode, FakeNode] } {
  const context = new FakeWorld();
  const made = (name: string) => {
    const node = context.add(name).runs(config({}, "controlplane"));
    node.etcd = { state: "Running", healthy: true };
    node.members = ["cp-1", "cp-2", "cp-3"];
    for (const component of names) node.pods.set(component, { manifest: "1", status: pod("at first") });
    return node;
  };
  return { context, nodes: [made("cp-1"), made("cp-2"), made("cp-3")] };
}

/** Changes a setting of the API server. */
const flags = (extraArgs: object) =>
  config({}, "controlplane").replace("cluster: {}", `cluster: ${JSON.stringify({ apiServer: { extraArgs } })}`);
const wanted = flags({ "audit-log-maxage": "7" });

function target(node: string, changes: Partial<NodeTarget> = {}): NodeTarget {
  return {
    node,
    role: "controlplane",
    talosAddress: node,
    address: node,
    peers: [],
    machineConfiguration: wanted,
    credentials: { ...credentials, ca: `ca of cluster ${clusters}` },
    identity: {},
    retry: standardRetry,
    deadlineSeconds: 300,
    ...changes,
  };
}

/** Once the node has its config, Talos rewrites its manifests, and later their pods are restarted. */
function restarts(context: FakeWorld, node: FakeNode, told: string[], restarted: readonly string[] = names): void {
  const boot = node.boot.bind(node);
  node.boot = () => {
    boot();
    told.push(`${node.name} has its config`);
    context.clock.after(800, () => {
      for (const name of restarted) node.pods.set(name, { manifest: "2", status: pod("at first") });
    });
    context.clock.after(20_000, () => {
      told.push(`${node.name} serves`);
      for (const name of restarted) node.pods.set(name, { manifest: "2", status: pod("later") });
    });
  };
}

const failure = async (made: Promise<unknown>): Promise<string> =>
  await made.then(
    () => "it succeeded",
    (error: Error) => error.message,
  );

describe("S5.4 a change of control planes without a reboot", () => {
  test("goes to the next control plane when every static pod of the one before runs with its new manifest [C9]", async () => {
    const { context, nodes } = cluster();
    const told: string[] = [];
    for (const node of nodes) restarts(context, node, told);
    await Promise.all(nodes.map(({ name }) => configureNode(target(name), context)));
    expect(told).toEqual(["cp-1", "cp-2", "cp-3"].flatMap((name) => [`${name} has its config`, `${name} serves`]));
    expect(context.said).toContain("kube-apiserver: the kubelet has not reported its pod with the new settings yet");
  });

  test("waits for the pods whose manifests were rewritten, and for no other", async () => {
    const { context, nodes } = cluster();
    const told: string[] = [];
    restarts(context, nodes[0], told, ["kube-scheduler"]);
    await configureNode(target("cp-1"), context);
    expect(told).toEqual(["cp-1 has its config", "cp-1 serves"]);
    expect(context.clock.now()).toBeGreaterThan(20_000);
  });

  test("waits for the kubelet to run with its new arguments", async () => {
    const { context, nodes } = cluster();
    const [node] = nodes;
    const boot = node.boot.bind(node);
    node.boot = () => {
      boot();
      node.kubelet = { spec: "another", version: "1", healthy: true };
      context.clock.after(10_000, () => {
        node.kubelet = { spec: "another", version: "3", healthy: false };
      });
      context.clock.after(15_000, () => {
        node.kubelet = { spec: "another", version: "4", healthy: true };
      });
    };
    const machineConfiguration = config({ kubelet: { extraArgs: { v: "2" } } }, "controlplane");
    await configureNode(target("cp-1", { machineConfiguration }), context);
    expect(context.clock.now()).toBeGreaterThan(15_000);
    expect(context.said).toEqual(
      expect.arrayContaining(["kubelet: still runs with its former settings", "kubelet: is not healthy"]),
    );
  });

  test("with a flag that the kubelet does not know stops at once, in its own words, and not for the words of its former settings", async () => {
    const { context, nodes } = cluster();
    const [node] = nodes;
    const ended = (flag: string) => [
      `2026-11-20T00:00:00Z E1120 00:00:00.000000 1 run.go:72] "command failed" err="failed to parse kubelet flag: unknown flag: --${flag}"`,
    ];
    node.kubelet = { spec: "former", version: "1", healthy: false };
    node.log = ended("former");
    const boot = node.boot.bind(node);
    node.boot = () => {
      boot();
      node.kubelet = { spec: "another", version: "2", healthy: false };
      context.clock.after(10_000, () => {
        node.kubelet = { spec: "another", version: "3", healthy: false };
        node.log = ended("nosuch");
      });
    };
    const machineConfiguration = config({ kubelet: { extraArgs: { nosuch: "yes" } } }, "controlplane");
    const said = await failure(configureNode(target("cp-1", { machineConfiguration }), context));
    expect(said).toMatch(/SLU-T216 .*kubelet: ended: failed to parse kubelet flag: unknown flag: --nosuch/s);
    expect(said).toMatch(/changed: machine\.kubelet\.extraArgs/);
    expect(context.clock.now()).toBeLessThan(15_000);
    expect(context.said).toContain("kubelet: ended: failed to parse kubelet flag: unknown flag: --former");
  });

  test("that affects no component takes no longer than before", async () => {
    const { context } = cluster();
    const machineConfiguration = config({ sysctls: { a: "2" } }, "controlplane");
    await configureNode(target("cp-1", { machineConfiguration }), context);
    expect(context.clock.now()).toBeLessThan(1000);
  });

  test("with a flag that the API server does not know stops at the first control plane, which names component, words and change", async () => {
    const { context, nodes } = cluster();
    const message = "Error: unknown flag: --nosuch";
    const machineConfiguration = flags({ nosuch: "yes" });
    for (const node of nodes) {
      const boot = node.boot.bind(node);
      node.boot = () => {
        boot();
        for (const name of names) node.pods.set(name, { manifest: "2", status: pod("later") });
        for (const times of [1, 2, 3, 4]) {
          context.clock.after(times * 10_000, () => {
            node.pods.set("kube-apiserver", { manifest: "2", status: pod("later", { times, message }) });
          });
        }
        node.pods.set("kube-apiserver", { manifest: "2", status: pod("later", { times: 0, message }) });
      };
    }
    const all = ["cp-1", "cp-2", "cp-3"].map((name) =>
      failure(configureNode(target(name, { machineConfiguration }), context)),
    );
    const [first, ...others] = await Promise.all(all);
    expect(first).toMatch(/^SLU-T216 A control plane does not serve with its new settings/);
    expect(first).toMatch(/where: +cp-1,/);
    expect(first).toMatch(/kube-apiserver: container main: CrashLoopBackOff, .*unknown flag: --nosuch/);
    expect(first).toMatch(/changed: cluster\.apiServer/);
    expect(context.clock.now()).toBeLessThan(60_000);
    for (const other of others) expect(other).toMatch(/not changed, because another control plane failed: cp-1: /);
    expect(nodes.map(({ calls }) => calls)).toEqual([["apply NO_REBOOT"], [], []]);
  });

  test("stops again in the next run, whichever control plane comes first, until the flag is corrected", async () => {
    const { context, nodes } = cluster();
    const machineConfiguration = flags({ nosuch: "yes" });
    const crashed = { times: 5, message: "unknown flag: --nosuch" };
    nodes[0].runs(machineConfiguration).pods.set("kube-apiserver", { manifest: "2", status: pod("later", crashed) });
    const again = (name: string) => failure(configureNode(target(name, { machineConfiguration }), context));
    expect(await again("cp-2")).toMatch(
      /SLU-T216 .*not changed, because cp-1 does not serve: .*unknown flag: --nosuch/s,
    );
    expect(await again("cp-1")).toMatch(/SLU-T216 .*unknown flag: --nosuch/s);
    expect(nodes.flatMap(({ calls }) => calls)).toEqual([]);

    clusters += 1;
    const told: string[] = [];
    for (const node of nodes) restarts(context, node, told);
    await Promise.all(nodes.map(({ name }) => configureNode(target(name), context)));
    expect(told.slice(0, 2)).toEqual(["cp-1 has its config", "cp-1 serves"]);
  });

  test("starts with the control plane that does not serve, although others ask for their turn first", async () => {
    const { context, nodes } = cluster();
    const crashed = { times: 5, message: "unknown flag: --nosuch" };
    nodes[2]
      .runs(flags({ nosuch: "yes" }))
      .pods.set("kube-apiserver", { manifest: "2", status: pod("later", crashed) });
    const told: string[] = [];
    for (const node of nodes) restarts(context, node, told);
    await Promise.all(nodes.map(({ name }) => configureNode(target(name), context)));
    expect(told).toEqual(["cp-3", "cp-1", "cp-2"].flatMap((name) => [`${name} has its config`, `${name} serves`]));
  });

  test("of a control plane that does not serve waits for no other: it may be what fixes both", async () => {
    const { context, nodes } = cluster();
    const crashed = { times: 5, message: "it ended" };
    for (const { pods } of nodes) pods.set("kube-apiserver", { manifest: "1", status: pod("at first", crashed) });
    const told: string[] = [];
    for (const node of nodes) restarts(context, node, told);
    await Promise.all(nodes.map(({ name }) => configureNode(target(name), context)));
    expect(told).toHaveLength(6);
  });

  test("is not held up by a static pod of the user that was unhealthy before", async () => {
    const { context, nodes } = cluster();
    const own = { manifest: "1", status: pod("at first", { times: 9, message: "it ended" }) };
    for (const { pods } of nodes) pods.set("own", own);
    restarts(context, nodes[0], []);
    expect(await configureNode(target("cp-1"), context)).toMatchObject({ did: "applied" });
  });

  test("names a component that does not become ready in time", async () => {
    const { context, nodes } = cluster();
    const [node] = nodes;
    const boot = node.boot.bind(node);
    node.boot = () => {
      boot();
      node.pods.set("kube-apiserver", { manifest: "2", status: undefined });
    };
    expect(await failure(configureNode(target("cp-1", { deadlineSeconds: 60 }), context))).toMatch(
      /SLU-T216 .*kube-apiserver: the kubelet does not report its pod yet/s,
    );
  });
});
