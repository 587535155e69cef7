// Machines on Proxmox that somebody changes by hand, one that moves, and a host that is dead when all is taken away.
import { afterAll, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { Chain } from "../lab/support/chain.ts";
import { findDrift, noDrift } from "../lab/support/drifts.ts";
import { Proxmox } from "../lab/support/proxmox.ts";

jest.setTimeout(300_000);

const off = { enabled: false };

describe("a cluster on three Proxmox hosts", () => {
  let chain: Chain;
  let proxmox: Proxmox;
  let vms: { name: string; vmid: number; node: string; maxmem: number; maxcpu: number }[];
  const vm = (node: string) => vms.find(({ name }) => name.endsWith(node)) ?? fail(`there is no VM ${node}`);
  const path = (node: string) => `/nodes/${vm(node).node}/qemu/${vm(node).vmid}`;
  const look = async () => {
    vms = await proxmox.call("GET", "/cluster/resources", { type: "vm" });
  };
  beforeAll(async () => {
    const config = { csi: off, flux: off, sealedSecrets: off };
    chain = await Chain.of({ platform: "proxmox", workers: 1, hosts: ["pve1", "pve2", "pve3"], config });
    await chain.up();
    proxmox = new Proxmox(chain.lab);
    await look();
  });
  afterAll(() => chain?.down());

  test("U3 a machine's settings: cores, memory and whether it starts with its host are named, and mended", async () => {
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

  test("S4.1 a VM whose entry names another host is moved there while it runs, with its disks, and is the same machine", async () => {
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
    expect(await proxmox.call("GET", `/nodes/${from}/storage/local-lvm/content`)).toEqual([]);
    await chain.kubectl("wait", "node/w-1", "--for=condition=Ready", "--timeout=0");
    expect((await chain.up()).steps).toEqual([]);
  });

  test("S4.7 is taken away but for what is on a host that is dead, and that is named; with the host back, all of it is", async () => {
    const dead = vm("w-1").node;
    const down = await chain.lab.fault({ on: "host", subject: dead, do: "absent" });
    const destroy = await chain.run("destroy");
    expect(destroy).not.toMatchObject({ code: 0 });
    expect(destroy.stdout).toMatch(/VmLegacy \(test-w-1\):\n +error: /);
    expect(destroy.stdout).toMatch(new RegExp(`${dead}|595`));
    const left = (await chain.resources()).filter(({ type }) => type === "proxmoxve:index/vmLegacy:VmLegacy");
    expect(left.map(({ name }) => name)).toEqual(["test-w-1"]);
    await chain.lab.endFault(down);
    const again = await chain.run("destroy");
    expect(again).toMatchObject({ code: 0 });
    expect(await chain.resources()).toEqual([]);
    expect(await proxmox.left()).toEqual([]);
  });
});

function fail(why: string): never {
  throw new Error(why);
}
