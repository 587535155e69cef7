// A cluster whose configs and whose list of nodes change: nodes get a new config, leave, join, and are replaced.
import { afterAll, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { Chain, type Run } from "../lab/support/chain.ts";
import type { Fact } from "../lab/support/facts.ts";
import { onlyProves } from "../lab/support/gates.ts";

jest.setTimeout(300_000);

/** What a run did, gates aside. */
function steps({ steps: all }: Run): string[] {
  return all
    .filter(({ type }) => !onlyProves(type))
    .map(({ op, type, name }) => `${op} ${type.split(":").at(-1)} ${name}`)
    .sort();
}

describe("three control planes and two workers", () => {
  let chain: Chain;
  /** Where in the facts something started. */
  let began = 0;
  const since = () => chain.lab.facts.all.slice(began);
  const begin = () => {
    began = chain.lab.facts.all.length;
  };
  /** What changed something on nodes since then: `node call`. */
  const calls = () =>
    since()
      .filter(({ what, subject }) => what === "call" && subject.startsWith("test-"))
      .map(({ subject, value }) => `${subject.replace("test-", "")} ${value}`);
  const at = (subject: string, what: string, value: string): number => {
    const found = since().find((fact: Fact) => fact.subject === subject && fact.what === what && fact.value === value);
    if (found === undefined) throw new Error(`there is no fact ${subject} ${what} ${value}`);
    return found.seq;
  };
  const said = ({ stdout, stderr }: Run) => stdout + stderr;
  const names = async () => {
    const listed = await chain.kubectl("get", "nodes", "--output", "jsonpath={.items[*].metadata.name}");
    return listed.split(" ").sort();
  };
  const members = async () => (await chain.outputs()).gates.Etcd.evidence.members;
  const remove = (...gone: string[]) => {
    for (const name of gone) chain.removeNode(name);
  };
  const server = async (name: string) => (await chain.cloud.call("GET", `/servers?name=test-${name}`)).servers[0];
  const act = async (name: string, action: string) =>
    chain.cloud.call("POST", `/servers/${(await server(name)).id}/actions/${action}`);
  const uid = (name: string) => chain.kubectl("get", "node", name, "--output", "jsonpath={.metadata.uid}");

  beforeAll(async () => {
    chain = await Chain.of({ controlPlanes: 3, workers: 2, config: { timeouts: { drain: 5 } } });
    await chain.up();
  });
  afterAll(() => chain?.down());

  test("apply a change that needs no reboot while they run (S1.3)", async () => {
    chain.configure({ patches: [{ name: "sysctl", patch: { machine: { sysctls: { "vm.swappiness": "10" } } } }] });
    const preview = await chain.run("preview");
    for (const { name } of chain.listed) {
      expect(said(preview)).toContain(`${name}: 1 change of the machine config, without a reboot`);
    }
    begin();
    await chain.up();
    expect(calls().sort()).toEqual(chain.listed.map(({ name }) => `${name} ApplyConfiguration`));
  });

  test("reboot if a change needs it, as the preview shows; control planes one at a time, each when etcd is healthy on the one before (S1.3) [C9]", async () => {
    chain.configure({ patches: [{ name: "variable", patch: { machine: { env: { A_VARIABLE: "a" } } } }] });
    const preview = await chain.run("preview");
    for (const { name } of chain.listed)
      expect(said(preview)).toContain(`${name}: 2 changes of the machine config, ${name} REBOOTS`);
    begin();
    await chain.up();
    const reboots = calls().filter((call) => call.endsWith(" Reboot"));
    expect(reboots.toSorted()).toEqual(chain.listed.map(({ name }) => `${name} Reboot`));
    const controlPlanes = reboots.map((call) => call.split(" ")[0] ?? "").filter((name) => name.startsWith("cp-"));
    for (const [place, name] of controlPlanes.entries()) {
      const before = controlPlanes[place - 1];
      if (before === undefined) continue;
      expect(at(`test-${before}`, "stage", "running")).toBeLessThan(at(`test-${name}`, "call", "Reboot"));
      expect(at(`test-${before}`, "etcd", "started")).toBeLessThan(at(`test-${name}`, "call", "Reboot"));
    }
  });

  test("keep a worker whose pods cannot be evicted: the message names the disruption budget, and nothing is lost [C24]", async () => {
    const selector = { spec: { template: { spec: { nodeSelector: { "kubernetes.io/hostname": "w-2" } } } } };
    await chain.kubectl("create", "deployment", "stay", "--image=registry.example.org/stay:1");
    await chain.kubectl("patch", "deployment", "stay", "--patch", JSON.stringify(selector));
    await chain.kubectl("rollout", "status", "deployment", "stay", "--timeout=30s");
    await chain.kubectl("create", "poddisruptionbudget", "stay", "--selector=app=stay", "--min-available=1");
    remove("w-2");
    const preview = await chain.run("preview");
    expect(said(preview)).toContain("w-2 LEAVES the cluster: cordoned, drained, reset");

    begin();
    const up = await chain.run("up");
    expect(up.code).not.toBe(0);
    expect(said(up)).toMatch(/SLU-L102 A node could not be drained/);
    expect(said(up)).toMatch(
      /1 pod left; default\/stay-\S+: 429 Cannot evict .* The disruption budget stay needs 1 healthy pods/,
    );
    expect(calls()).toEqual([]);
    expect(await chain.kubectl("get", "node", "w-2", "--output", "jsonpath={.spec.unschedulable}")).toBe("true");
  });

  test("keep that worker when its entry is put back: it stays cordoned until a user uncordons it", async () => {
    chain.addNode({ name: "w-2", role: "worker", address: "10.0.1.22" });
    begin();
    await chain.up();
    expect(calls()).toEqual([]);
    const cordoned = ["get", "nodes", "--field-selector", "spec.unschedulable=true", "--output", "name"];
    expect(await chain.kubectl(...cordoned)).toBe("node/w-2\n");
    await chain.kubectl("uncordon", "w-2");
    expect(await chain.kubectl(...cordoned)).toBe("");
    expect(await chain.run("up", "--expect-no-changes")).toMatchObject({ code: 0 });
  });

  test("lose a worker whose entry is deleted: it is drained, reset and deleted, and no other node is touched (S4.2) [C2] [C10] [C11]", async () => {
    await chain.kubectl("delete", "poddisruptionbudget", "stay");
    remove("w-2");
    begin();
    const up = await chain.up();
    expect(said(up)).toContain("w-2 has left: drained, reset, and deleted in Kubernetes");
    expect(calls()).toEqual(["w-2 Reset"]);
    expect(steps(up)).toEqual([
      "delete AppliedMachineConfig test-w-2",
      "delete GeneratedMachineConfig test-w-2",
      "delete Server test-w-2",
      "update KubernetesUpgrade test",
      "update Members test",
      "update QuorumGuard test",
      "update TalosUpgrade test",
    ]);
    expect(at("test-w-2", "wiped", "partitions")).toBeLessThan(at("test-w-2", "power", "off"));
    // With the Node object deleted, and every gate open without it.
    const step = (type: string) => up.steps.find((one) => one.type.endsWith(`:${type}`));
    expect(step("Members")?.ended).toBeLessThan(step("Server")?.began ?? Number.NaN);
    expect(step("GitOpsReady")?.ended).toBeLessThan(step("Server")?.began ?? Number.NaN);
    expect(await names()).toEqual(["cp-1", "cp-2", "cp-3", "w-1"]);
    await chain.kubectl("delete", "deployment", "stay");
  });

  test("gain two control planes one at a time, with etcd healthy in between, and no other node is touched (S1.3, S4.2)", async () => {
    chain.addNode({ name: "cp-4", role: "controlplane", address: "10.0.1.14" });
    chain.addNode({ name: "cp-5", role: "controlplane", address: "10.0.1.15" });
    begin();
    const up = await chain.up();
    const told = calls();
    expect(told.toSorted()).toEqual(["cp-4 ApplyConfiguration", "cp-5 ApplyConfiguration"]);
    const [first = "", second = ""] = told.map((call) => call.split(" ")[0]);
    expect(at(`test-${first}`, "etcd", "voter")).toBeLessThan(at(`test-${second}`, "call", "ApplyConfiguration"));
    expect(steps(up).filter((step) => !step.startsWith("create"))).toEqual([
      "update Bootstrap test",
      "update KubernetesUpgrade test",
      "update Members test",
      "update QuorumGuard test",
      "update TalosUpgrade test",
    ]);
    expect(await members()).toEqual(["cp-1", "cp-2", "cp-3", "cp-4", "cp-5"]);
  });

  test("lose the first control plane and a dead one with etcd's quorum preserved, and the dead machine is not reported as reset [C10]", async () => {
    await act("cp-2", "poweroff");
    remove("cp-1", "cp-2");
    begin();
    const up = await chain.up();
    expect(said(up)).toContain("cp-1 has left: drained, reset, and deleted in Kubernetes");
    expect(said(up)).toMatch(
      /cp-2 has left: deleted in Kubernetes\. Its machine does not answer \(.*\) and was NOT reset/,
    );
    const told = calls();
    expect(told.filter((call) => call.startsWith("cp-1 "))).toEqual([
      "cp-1 EtcdForfeitLeadership",
      "cp-1 EtcdLeaveCluster",
      "cp-1 Reset",
    ]);
    expect(told.filter((call) => call.startsWith("cp-2 "))).toEqual([]);
    expect(told.filter((call) => call.endsWith(" EtcdRemoveMemberByID"))).toHaveLength(1);
    expect(told.filter((call) => / (ApplyConfiguration|Bootstrap|Reboot)$/.test(call))).toEqual([]);
    expect(steps(up).filter((step) => !step.includes("-cp-1") && !step.includes("-cp-2"))).toEqual([
      "update Bootstrap test",
      "update Kubeconfig test",
      "update KubernetesUpgrade test",
      "update Members test",
      "update QuorumGuard test",
      "update TalosUpgrade test",
      "update kubernetes test-kubernetes",
    ]);
    expect(await names()).toEqual(["cp-3", "cp-4", "cp-5", "w-1"]);
    expect(await members()).toEqual(["cp-3", "cp-4", "cp-5"]);
  });

  test("keep a control plane that etcd's quorum needs: its removal is refused before anything is touched [C35]", async () => {
    const held = await chain.lab.fault({ on: "service", name: "etcd", subject: "test-cp-3", do: "hold" });
    begin();
    const before = chain.lab.facts.all.at(-1);
    await act("cp-3", "reset");
    await chain.lab.until({ subject: "test-cp-3", what: "stage", value: "booting", after: before });
    const all = chain.listed;
    remove("cp-4", "cp-5");
    const up = await chain.run("up");
    expect(up.code).not.toBe(0);
    expect(said(up)).toMatch(/SLU-L101 etcd would lose its quorum/);
    expect(said(up)).toMatch(
      /without cp-4: 2 of the 2 remaining members must be healthy.*unhealthy: cp-3.*Nothing was changed/s,
    );
    expect(calls()).toEqual([]);
    await chain.lab.endFault(held);
    await chain.lab.until({ subject: "test-cp-3", what: "etcd", value: "started", after: before });
    chain.configure({ nodes: all });
    await chain.up();
    const cordoned = ["get", "nodes", "--field-selector", "spec.unschedulable=true", "--output", "name"];
    expect(await chain.kubectl(...cordoned)).toBe("");
  });

  test("give a recreated server its config again, after the old server's member and Node are removed [C13]", async () => {
    const [before, old] = [await uid("cp-4"), await server("cp-4")];
    await chain.cloud.call("DELETE", `/servers/${old.id}`);
    const refresh = await chain.run("refresh");
    expect(refresh.steps).toContainEqual(expect.objectContaining({ op: "delete", name: "test-cp-4" }));
    begin();
    const up = await chain.up();
    expect(calls().filter((call) => !call.endsWith("EtcdRemoveMemberByID"))).toEqual(["cp-4 ApplyConfiguration"]);
    expect(calls()).toHaveLength(2);
    expect(steps(up)).toContain("create Server test-cp-4");
    expect((await server("cp-4")).id).not.toBe(old.id);
    expect(await uid("cp-4")).not.toBe(before);
    expect(await members()).toEqual(["cp-3", "cp-4", "cp-5"]);
    expect(await chain.kubectl("get", "node", "cp-4", "--output", "jsonpath={.spec.providerID}")).toBe(
      `hcloud://${(await server("cp-4")).id}`,
    );
  });

  test("recreate a machine with --replace: it gets its config, after the old machine's Node is deleted [C13]", async () => {
    const [before, old] = [await uid("w-1"), await server("w-1")];
    const machine = (await chain.resources()).find(({ type, name }) => type.endsWith(":Server") && name === "test-w-1");
    begin();
    await chain.up("--replace", machine?.urn ?? "");
    expect(calls()).toEqual(["w-1 ApplyConfiguration"]);
    expect((await server("w-1")).id).not.toBe(old.id);
    expect(await uid("w-1")).not.toBe(before);
  });

  test("are not powered off two at a time for another type: that is refused with nothing changed, and one at a time succeeds (S1.3)", async () => {
    const typed = (...names: readonly string[]) =>
      chain.listed.map((node) => (names.includes(node.name) ? { ...node, serverType: "cx33" } : node));
    const typeOf = async (name: string) => (await server(name)).server_type.name;
    const all = chain.listed;
    chain.configure({ nodes: typed("cp-3", "cp-4") });
    const preview = await chain.run("preview");
    for (const name of ["cp-3", "cp-4"]) {
      expect(said(preview)).toContain(`${name} is turned off for a change of its type: cx23 -> cx33`);
    }
    begin();
    const refused = await chain.run("up");
    expect(refused.code).not.toBe(0);
    expect(said(refused)).toMatch(/SLU-L104 Several control planes would go down at once/);
    expect(since().filter(({ what }) => what === "power" || what === "call")).toEqual([]);
    expect(await Promise.all(["cp-3", "cp-4"].map(typeOf))).toEqual(["cx23", "cx23"]);

    for (const names of [["cp-3"], ["cp-3", "cp-4"]]) {
      const name = names.at(-1) ?? "";
      chain.configure({ nodes: all });
      chain.configure({ nodes: typed(...names) });
      begin();
      const up = await chain.up();
      expect(steps(up)).toEqual(["update QuorumGuard test", `update Server test-${name}`]);
      expect(await typeOf(name)).toBe("cx33");
      expect(at(`test-${name}`, "power", "off")).toBeLessThan(at(`test-${name}`, "power", "on"));
    }
    expect(calls()).toEqual([]);
    const last = await chain.up();
    expect(steps(last)).toEqual(["update QuorumGuard test"]);
  });

  test("keep a node whose name or address is edited: the edit is refused, with what to do", async () => {
    const all = chain.listed;
    const edited = (change: object) => all.map((node) => (node.name === "w-1" ? { ...node, ...change } : node));
    chain.configure({ nodes: edited({ name: "w-9" }) });
    begin();
    const renamed = await chain.run("up");
    expect(renamed.code).not.toBe(0);
    expect(said(renamed)).toMatch(/SLU-L105 .*\n.*w-9.*\n.*\n.*the address 10\.0\.1\.21, which w-1 keeps/);
    chain.configure({ nodes: edited({ address: "10.0.1.29" }) });
    const moved = await chain.run("up");
    expect(moved.code).not.toBe(0);
    expect(said(moved)).toMatch(/SLU-L105 .*\n.*w-1.*\n.*\n.*it runs at 10\.0\.1\.21, and would move to 10\.0\.1\.29/);
    expect(calls()).toEqual([]);
    chain.configure({ nodes: all });
    await chain.up();
  });

  test("are not changed by another run", async () => {
    const again = await chain.up();
    expect(again.steps).toEqual([]);
  });
});
