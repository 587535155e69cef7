// The cluster of S4.1 on three Proxmox hosts: where everything is, machines that someone changes by hand, one that moves, and a host that is dead when
// everything is destroyed.
import { afterAll, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { derivedMac } from "../../components/network/addressPlan.ts";
import { Chain } from "../lab/support/chain.ts";
import { findDrift, noDrift } from "../lab/support/drifts.ts";
import { Proxmox } from "../lab/support/proxmox.ts";

jest.setTimeout(300_000);

describe("three control planes and two workers on three Proxmox hosts", () => {
  let chain: Chain;
  let proxmox: Proxmox;
  let vms: { name: string; vmid: number; node: string; maxmem: number; maxcpu: number }[];
  const vm = (node: string) => vms.find(({ name }) => name.endsWith(node)) ?? fail(`there is no VM ${node}`);
  const path = (node: string) => `/nodes/${vm(node).node}/qemu/${vm(node).vmid}`;
  const look = async () => {
    vms = await proxmox.call("GET", "/cluster/resources", { type: "vm" });
  };
  beforeAll(async () => {
    chain = await Chain.of({ platform: "proxmox", controlPlanes: 3, workers: 2, hosts: ["pve1", "pve2", "pve3"] });
    await chain.up();
    proxmox = new Proxmox(chain.lab);
    await look();
  });
  afterAll(() => chain?.down());

  test("become a cluster that Flux reconciles, from nothing, behind their VIP (S4.1, S4.4, S4.7) [C16] [C30]", async () => {
    await chain.kubectl("wait", "nodes", "--all", "--for=condition=Ready", "--timeout=0");
    const names = await chain.kubectl("get", "nodes", "--output", "name");
    expect(names.trim().split("\n")).toEqual(["cp-1", "cp-2", "cp-3", "w-1", "w-2"].map((name) => `node/${name}`));
    expect(await chain.outputs()).toMatchObject({
      endpoint: "https://10.0.0.20:6443",
      gitOpsRevision: expect.stringMatching(/^main@sha1:/),
    });
  });

  test("have the configured addresses, ids and MACs, with each control plane on its own host (S4.1)", async () => {
    expect(new Set(["cp-1", "cp-2", "cp-3"].map((name) => vm(name).node)).size).toBe(3);
    expect(vm("cp-1").vmid).toBe(311);
    const { net0 } = await proxmox.call("GET", `${path("cp-1")}/config`);
    expect(net0).toContain(derivedMac("test", "cp-1").toUpperCase());
    const zone = ["get", "node", "cp-1", "--output", "jsonpath={.metadata.labels['topology\\.kubernetes\\.io/zone']}"];
    expect(await chain.kubectl(...zone)).toBe(vm("cp-1").node);
  });

  test("are left alone by an update with nothing to do (S1.6)", async () => {
    expect((await chain.up()).steps).toEqual([]);
  });

  test("U3 have changes of cores, memory and start with the host named, and fixed [C32]", async () => {
    const before = await proxmox.call("GET", `${path("w-1")}/config`);
    await proxmox.call("PUT", `${path("w-1")}/config`, { onboot: "0", cores: "7", memory: "6144" });
    const { drifts } = await findDrift(chain);
    expect(drifts).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^vm test-w-1: cpu\.cores is 7, and should be \d+$/),
        expect.stringMatching(/^vm test-w-1: memory\.dedicated is 6144, and should be \d+$/),
        "vm test-w-1: onBoot is false, and should be true",
      ]),
    );
    await chain.up();
    const { cores, memory, onboot } = before;
    expect(await proxmox.call("GET", `${path("w-1")}/config`)).toMatchObject({ cores, memory, onboot });
    await noDrift(chain);
  });

  test("S4.1 keep a VM whose entry names another host: it is moved there while it runs, with its disks", async () => {
    const machine = async () => {
      const { smbios1 } = await proxmox.call("GET", `${path("w-1")}/config`);
      const power = chain.lab.facts.all.filter(({ subject, what }) => subject === "test-w-1" && what === "power");
      const { status } = await proxmox.call("GET", `${path("w-1")}/status/current`);
      return { smbios1, status, boots: power.length };
    };
    const [before, from] = [await machine(), vm("w-1").node];
    const host = from === "pve3" ? "pve2" : "pve3";
    chain.configure({ nodes: chain.listed.map((node) => (node.name === "w-1" ? { ...node, host } : node)) });
    const { steps } = await chain.up();
    await look();
    expect(vm("w-1").node).toBe(host);
    expect(await machine()).toEqual(before);
    expect(steps.filter(({ type }) => type.endsWith(":VmLegacy")).map(({ op, name }) => `${op} ${name}`)).toEqual([
      "update test-w-1",
    ]);
    const disks: { vmid: number }[] = await proxmox.call("GET", `/nodes/${from}/storage/local-lvm/content`);
    expect(disks.map(({ vmid }) => vmid)).not.toContain(vm("w-1").vmid);
    await chain.kubectl("wait", "node/w-1", "--for=condition=Ready", "--timeout=0");
    expect((await chain.up()).steps).toEqual([]);
  });

  test("U3 keep in the state what is on a dead host, which is reported as not checked", async () => {
    const dead = vm("w-1").node;
    const onIt = vms.flatMap(({ name, node }) => (node === dead ? [name] : []));
    const down = await chain.lab.fault({ on: "host", subject: dead, do: "absent" });
    const { unseen } = await findDrift(chain);
    for (const name of onIt) {
      expect(unseen).toContainEqual(expect.stringMatching(new RegExp(`vm ${name}\\b.*: error retrieving VM .* 595`)));
    }
    const kept = (await chain.resources()).filter(({ type }) => type === "proxmoxve:index/vmLegacy:VmLegacy");
    expect(kept.map(({ name }) => name).sort()).toEqual(vms.map(({ name }) => name).sort());
    await chain.lab.endFault(down);
    await chain.up();
    await fluxHasLookedAnew(chain);
    await noDrift(chain);
  });

  test("S4.7 are destroyed except for what is on a dead host, which is named; with the host back, everything is [C1]", async () => {
    const dead = vm("w-1").node;
    const onIt = vms.flatMap(({ name, node }) => (node === dead ? [name] : [])).sort();
    const down = await chain.lab.fault({ on: "host", subject: dead, do: "absent" });
    const destroy = await chain.run("destroy");
    expect(destroy).not.toMatchObject({ code: 0 });
    expect(destroy.stdout).toMatch(/VmLegacy \(test-w-1\):\n +error: /);
    expect(destroy.stdout).toMatch(new RegExp(`${dead}|595`));
    const left = (await chain.resources()).filter(({ type }) => type === "proxmoxve:index/vmLegacy:VmLegacy");
    expect(left.map(({ name }) => name).sort()).toEqual(onIt);
    await chain.lab.endFault(down);
    const again = await chain.run("destroy");
    expect(again).toMatchObject({ code: 0 });
    expect(await chain.resources()).toEqual([]);
    expect(await proxmox.left()).toEqual([]);
  });
});

/** Its controllers went down with the host, and so did what they had fetched. Their last status stays until they have reconciled again. */
async function fluxHasLookedAnew(chain: Chain): Promise<void> {
  for (const kind of ["gitrepositories", "kustomizations"]) {
    const flux = (...args: readonly string[]) => chain.kubectl("--namespace", "flux-system", ...args);
    await flux("annotate", kind, "--all", "reconcile.fluxcd.io/requestedAt=host-is-back");
    const waits = ["jsonpath={.status.lastHandledReconcileAt}=host-is-back", "condition=Ready"];
    for (const wait of waits) await flux("wait", kind, "--all", `--for=${wait}`, "--timeout=120s");
  }
}

function fail(why: string): never {
  throw new Error(why);
}
