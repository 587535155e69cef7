// The chain for clusters of several nodes: how configs reach them, what another node changes, and clusters that are dead or incomplete.
import { afterAll, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { Chain, type Run, type Step } from "../lab/support/chain.ts";
import { onlyProves } from "../lab/support/gates.ts";
import type { Rule } from "../lab/support/lab.ts";

jest.setTimeout(300_000);

const off = { enabled: false };
const bare = { csi: off, flux: off, sealedSecrets: off };

const steps = ({ steps: all }: Run, type: string) => all.filter((step) => step.type.endsWith(`:${type}`));

/** The most of them that were in progress at the same time. */
function atOnce(all: readonly Step[]): number {
  return Math.max(...all.map(({ began }) => all.filter((other) => other.began <= began && other.ended > began).length));
}

/** The nodes on which a Talos call changed something, in that order. */
function told(chain: Chain, call: string): string[] {
  return chain.lab.facts.all.flatMap(({ subject, what, value }) => (what === "call" && value === call ? subject : []));
}

describe("three control planes and three workers, Talos 1.12", () => {
  let chain: Chain;
  let up: Run;
  const old = ["cp-1", "cp-2", "cp-3", "w-1", "w-2", "w-3"];
  beforeAll(async () => {
    chain = await Chain.of({ controlPlanes: 3, workers: 3, talos: "1.12.6", config: { apply: { parallel: "50%" } } });
  });
  afterAll(() => chain?.down());

  test("become a cluster that Flux reconciles (S0.3(5); S1, S3.1) [C4] [C30]", async () => {
    up = await chain.up();
    const names = await chain.kubectl("get", "nodes", "--output", "jsonpath={.items[*].metadata.name}");
    expect(names.split(" ").sort()).toEqual(old);
    await chain.kubectl("wait", "nodes", "--all", "--for=condition=Ready", "--timeout=0");
    const { gates, gitOpsRevision } = await chain.outputs();
    expect(gates.Etcd.evidence).toEqual({ members: ["cp-1", "cp-2", "cp-3"], alarms: 0 });
    expect(Object.keys(gates.TalosServices.evidence.services).sort()).toEqual(old);
    expect(gitOpsRevision).toMatch(/^main@sha1:[0-9a-f]{40}$/);
    await chain.talosctl("health", "--nodes", "10.0.1.11", "--wait-timeout", "1m");
  });

  test("got their configs half of them at a time, control planes first, each once (S1.3)", () => {
    expect(atOnce(steps(up, "AppliedMachineConfig"))).toBe(3);
    const nodes = told(chain, "ApplyConfiguration");
    expect(nodes.slice(0, 3).sort()).toEqual(["test-cp-1", "test-cp-2", "test-cp-3"]);
    expect(nodes.toSorted()).toEqual(old.map((name) => chain.server(name)));
    expect(told(chain, "Bootstrap")).toEqual(["test-cp-1"]);
  });

  test("are not touched when a worker is added and joins them (S1.6, S4.2) [C2]", async () => {
    const servers = async (): Promise<Record<string, unknown>[]> => {
      const { servers: all } = await chain.cloud.call("GET", "/servers?sort=name");
      // The group that keeps them apart has one more.
      return all.map(({ placement_group: _, ...server }: Record<string, unknown>) => server);
    };
    const before = await servers();
    const seen = chain.lab.facts.all.length;
    chain.addNode({ name: "w-4", role: "worker", address: "10.0.1.24" });
    const added = await chain.up();

    const others = added.steps.filter(({ type }) => !onlyProves(type));
    expect(others.map(({ op, name, type }) => `${op} ${type.split(":").at(-1)} ${name}`).sort()).toEqual([
      "create AppliedMachineConfig test-w-4",
      "create GeneratedMachineConfig test-w-4",
      "create Server test-w-4",
      "update KubernetesUpgrade test",
      "update Members test",
      "update QuorumGuard test",
      "update TalosUpgrade test",
    ]);
    const calls = chain.lab.facts.all.slice(seen).filter(({ what }) => what === "call");
    const written = calls.filter(({ subject }) => chain.nodes.includes(subject));
    expect(written.map(({ subject, value }) => `${subject} ${value}`)).toEqual(["test-w-4 ApplyConfiguration"]);
    expect((await servers()).slice(0, 6)).toEqual(before);
    expect(Object.keys((await chain.outputs()).gates.NodesReady.evidence.kubelets)).toContain("w-4");
  });

  test("need no snapshot of another image until a server is added: then `up` ends before it creates one (S8.3)", async () => {
    const hetzner = chain.setting("hetzner");
    chain.configure({ hetzner: { ...hetzner, snapshot: { labels: { os: "talos", version: "none" } } } });
    const without = await chain.up();
    expect(without.steps.map(({ op, type }) => `${op} ${type.split(":").at(-1)}`)).toEqual([
      "create-replacement HetznerSnapshot",
      "replace HetznerSnapshot",
      "delete-replaced HetznerSnapshot",
    ]);
    expect(without.stdout).toContain("no snapshot has the labels os=talos,version=none. The existing servers");

    chain.addNode({ name: "w-5", role: "worker", address: "10.0.1.25" });
    const refused = await chain.run("up");
    expect(refused.code).not.toBe(0);
    expect(refused.stdout).toContain("SLU-M101 No snapshot matches");
    const { servers } = await chain.cloud.call("GET", "/servers");
    expect(servers).toHaveLength(7);

    chain.removeNode("w-5");
    chain.configure({ hetzner });
    await chain.up();
    expect((await chain.up()).steps).toEqual([]);
  });

  test("are refreshed at most 10 s more slowly when all of them are dead: nothing is dropped, and each unreachable node is named [C1] [C32]", async () => {
    const before = await chain.resources();
    // What the engine itself needs depends on what else the machine does.
    const alive = await chain.run("refresh");
    const { servers } = await chain.cloud.call("GET", "/servers");
    await Promise.all(
      servers.map(({ id }: { id: number }) => chain.cloud.call("POST", `/servers/${id}/actions/poweroff`)),
    );
    const refresh = await chain.run("refresh");
    expect(refresh).toMatchObject({ code: 0 });
    expect(refresh.seconds - alive.seconds).toBeLessThan(10);
    expect((await chain.resources()).map(({ urn }) => urn)).toEqual(before.map(({ urn }) => urn));
    for (const name of [...old, "w-4"]) expect(refresh.stdout).toMatch(new RegExp(`${name}[^\\n]* does not answer`));
  });

  test("can be previewed while all of them are dead: only the gates run again (U2) [C1]", async () => {
    const preview = await chain.run("preview");
    expect(preview).toMatchObject({ code: 0 });
    const gates = Object.keys((await chain.outputs()).gates);
    expect(preview.steps.map(({ op, type }) => `${op} ${type}`).sort()).toEqual([
      "update pulumi-nodejs:dynamic/chain:StableGates",
      ...gates.map((gate) => `update pulumi-nodejs:dynamic/gates:${gate}`).sort(),
    ]);
  });

  test("are destroyed in less than 30 s while all of them are dead, and leave nothing in the cloud [C1] [C10]", () =>
    takenAway(chain));
});

describe("nodes that install Talos 1.12 all at once", () => {
  let chain: Chain;
  beforeAll(async () => {
    chain = await Chain.of({ controlPlanes: 3, workers: 1, talos: "1.12.6", installs: true, config: bare });
  });
  afterAll(() => chain?.down());

  test("become a cluster although their port is closed while they install (S0.2, S1.3)", async () => {
    const up = await chain.up();
    expect(atOnce(steps(up, "AppliedMachineConfig"))).toBe(4);
    expect(told(chain, "ApplyConfiguration").toSorted()).toEqual(chain.nodes);
    for (const subject of chain.nodes) {
      await chain.lab.until({ subject, what: "installed", value: "1.12.6", detail: { disk: "/dev/sda" } });
    }
    await chain.kubectl("wait", "nodes", "--all", "--for=condition=Ready", "--timeout=0");
  });
});

describe("nodes that have to install Talos first", () => {
  let chain: Chain;
  beforeAll(async () => {
    chain = await Chain.of({
      controlPlanes: 1,
      workers: 2,
      installs: true,
      config: { ...bare, apply: { parallel: 1 } },
    });
  });
  afterAll(() => chain?.down());

  test("get their configs one after another, install, and become a cluster (S0.2, S1.3)", async () => {
    const up = await chain.up();
    const configured = steps(up, "AppliedMachineConfig");
    expect(configured.map(({ name }) => name)).toEqual(chain.nodes);
    expect(atOnce(configured)).toBe(1);
    for (const subject of chain.nodes) {
      const installed = await chain.lab.until({
        subject,
        what: "installed",
        value: "1.13.8",
        detail: { disk: "/dev/sda" },
      });
      await chain.lab.until({ subject, what: "stage", value: "running", after: installed });
    }
    await chain.kubectl("wait", "nodes", "--all", "--for=condition=Ready", "--timeout=0");
  });

  test("have no gates for what is not installed", async () => {
    const { gates, gitOpsRevision } = await chain.outputs();
    expect(Object.keys(gates)).not.toContain("GitOpsReady");
    expect(gitOpsRevision ?? null).toBeNull();
  });

  test("are all destroyed", () => takenAway(chain));

  test("are destroyed as fast when only the machines were created", async () => {
    await stopsAt(chain, "Preflight", { on: "talos", do: "refuse" });
    expect((await chain.resources()).map(({ type }) => type)).not.toContain(
      "pulumi-nodejs:dynamic/talos:AppliedMachineConfig",
    );
    await takenAway(chain);
  });

  test("are destroyed as fast when only etcd runs yet", async () => {
    await stopsAt(chain, "KubernetesApi", { on: "kube", do: "refuse" });
    expect((await chain.resources()).map(({ type }) => type)).toContain("pulumi-nodejs:dynamic/talos:Bootstrap");
    await takenAway(chain);
  });
});

/** Runs `up` with a fault that keeps a gate closed. */
async function stopsAt(chain: Chain, gate: string, rule: Rule): Promise<void> {
  chain.configure({ timeouts: { preflight: 3, api: 3 } });
  const fault = await chain.lab.fault(rule);
  const up = await chain.run("up");
  expect(up.steps.filter(({ failed }) => failed)).toMatchObject([{ type: `pulumi-nodejs:dynamic/gates:${gate}` }]);
  expect(up).not.toMatchObject({ code: 0 });
  await chain.lab.endFault(fault);
}

async function takenAway(chain: Chain): Promise<void> {
  expect(await chain.cloud.left()).toContain("servers test-cp-1");
  const destroy = await chain.run("destroy");
  expect(destroy).toMatchObject({ code: 0 });
  expect(destroy.seconds).toBeLessThan(30);
  expect(await chain.resources()).toEqual([]);
  expect(await chain.cloud.left()).toEqual([]);
}
