import { describe, expect, test } from "@jest/globals";
import * as pulumi from "@pulumi/pulumi";
import { ProxmoxMachines, type ProxmoxMachinesArgs } from "../../../../components/machines/proxmox/proxmoxMachines.ts";
import { vmSize } from "../../../../components/machines/proxmox/proxmoxVm.ts";
import { type MockOptions, record, title, unwrap } from "../../../support/mocks.ts";

const size = { cores: 4, memory: 8192, disk: 40 };
const args: Omit<ProxmoxMachinesArgs, "guard"> = {
  clusterName: "home",
  region: "proxmox",
  nodes: [
    {
      ...{ name: "cp-1", role: "controlplane", address: "10.0.0.11", mac: "02:68:39:ad:f0:7c", vmId: 300 },
      ...{ host: "pve1", isHostNamed: false, size, schematic: "own-1" },
    },
    {
      ...{ name: "w-1", role: "worker", address: "10.0.0.21", mac: "02:00:00:00:00:15", vmId: 303 },
      ...{ host: "pve2", isHostNamed: true, size: { cores: 8, memory: 16384, disk: 100 }, schematic: "own-2" },
    },
  ],
  shape: { cpu: "x86-64-v2-AES", preEnrolledKeys: false, agent: true },
  storage: "local-lvm",
  bridge: "vmbr0",
  installer: "shared",
  images: { "cp-1": "local:import/one.qcow2", "w-1": "local:import/two.qcow2" },
  tags: ["talos"],
  protect: false,
};
const vmType = "proxmoxve:index/vmLegacy:VmLegacy";
const state: MockOptions["state"] = ({ type, inputs, name }) =>
  type === vmType ? { ...inputs, smbios: { ...inputs.smbios, uuid: `UUID-OF-${name}` } } : inputs;
const make = (changes: Partial<ProxmoxMachinesArgs> = {}, options: MockOptions = {}) =>
  record(() => new ProxmoxMachines("home", { ...args, guard: guard(), ...changes }), { state, ...options });
/** In the place of the resource that allows a change of a VM. */
const guardType = "test:machines:Guard";
const guard = () => new (class extends pulumi.CustomResource {})(guardType, "home", {});

async function vm(name: string, changes?: Partial<ProxmoxMachinesArgs>) {
  const { resources } = await make(changes);
  const found = resources.find((resource) => title(resource) === `${vmType} home-${name}`);
  if (found === undefined) throw new Error(`no VM ${name}`);
  return found;
}

describe("the machines of a Proxmox cluster", () => {
  test("S4.1 are these resources and no others", async () => {
    const { resources } = await make();
    expect(resources.filter(({ type }) => type !== guardType).map(title)).toEqual([
      `${vmType} home-cp-1`,
      `${vmType} home-w-1`,
      "sluice:machines:ProxmoxMachines home",
    ]);
  });

  test("S1.3 are changed only after the check that etcd keeps its quorum", async () => {
    for (const name of ["cp-1", "w-1"]) expect((await vm(name)).dependencies).toContain(`${guardType} home`);
  });

  test("S2.5 S4.1 have the shape that Talos is known to run in, and nothing in it needs SSH [C17]", async () => {
    expect((await vm("cp-1")).inputs).toEqual({
      name: "home-cp-1",
      description: "Node cp-1 of the Talos cluster home, made by Sluice",
      vmId: 300,
      nodeName: "pve1",
      tags: ["controlplane", "home", "talos"],
      machine: "q35",
      bios: "ovmf",
      efiDisk: { datastoreId: "local-lvm", type: "4m", preEnrolledKeys: false, fileFormat: "raw" },
      operatingSystem: { type: "l26" },
      cpu: { cores: 4, type: "x86-64-v2-AES" },
      memory: { dedicated: 8192, floating: 0 },
      scsiHardware: "virtio-scsi-single",
      disks: [
        {
          ...{ interface: "scsi0", datastoreId: "local-lvm", importFrom: "local:import/one.qcow2", size: 40 },
          ...{ fileFormat: "raw", iothread: true, discard: "on", ssd: true },
        },
      ],
      bootOrders: ["scsi0"],
      cdrom: { fileId: "none" },
      networkDevices: [{ bridge: "vmbr0", model: "virtio", macAddress: "02:68:39:AD:F0:7C" }],
      smbios: { serial: "home-cp-1", version: "shared/own-1" },
      agent: { enabled: true, timeout: "5s", waitForIp: { disabled: true } },
      onBoot: true,
      startup: { order: 1 },
      started: true,
      protection: false,
      stopOnDestroy: true,
      migrate: true,
      rebootAfterUpdate: false,
    });
  });

  test("S4.1 start after the control planes if they are workers, and have their own size", async () => {
    expect((await vm("w-1")).inputs).toMatchObject({
      startup: { order: 2 },
      cpu: { cores: 8 },
      memory: { dedicated: 16384 },
      disks: [{ size: 100, importFrom: "local:import/two.qcow2" }],
      tags: ["home", "talos", "worker"],
    });
  });

  test("S4.3 have a seed if their image reads one", async () => {
    const seeds = { "cp-1": { address: "10.0.0.11/16", gateway: "10.0.0.1", nameservers: ["10.0.0.1"] } };
    expect((await vm("cp-1", { seeds })).inputs).toMatchObject({
      initialization: {
        datastoreId: "local-lvm",
        interface: "ide2",
        ipConfigs: [{ ipv4: { address: "10.0.0.11/16", gateway: "10.0.0.1" } }],
        dns: { servers: ["10.0.0.1"] },
      },
    });
  });

  test("S2.4 have their ports in the VLAN in mode access", async () => {
    expect((await vm("cp-1", { vlan: 20 })).inputs).toMatchObject({ networkDevices: [{ vlanId: 20 }] });
  });

  test("S4.1 are put into a pool that is created for them", async () => {
    const { resources } = await make({ pool: "talos" });
    const pool = "proxmoxve:index/poolLegacy:PoolLegacy home-pool";
    expect(resources.map(title)).toContain(pool);
    const vms = resources.filter(({ type }) => type === vmType);
    expect(vms.map(({ inputs }) => (inputs as { poolId: string }).poolId)).toEqual(["talos", "talos"]);
    for (const { dependencies } of vms) expect(dependencies).toContain(pool);
  });

  test("U1 are not updated for what the plugin does not read back, nor recreated for another image [C17]", async () => {
    const ignored = ["disks[0].speed", "disks[0].importFrom", "smbios.version"];
    expect((await vm("w-1")).ignoreChanges).toEqual(ignored);
  });

  test("S4.2 stay on the host that they were moved to, unless their entry names one", async () => {
    expect((await vm("cp-1")).ignoreChanges).toContain("nodeName");
    expect((await vm("w-1")).ignoreChanges).not.toContain("nodeName");
  });

  test("S4.2 change no other when they are added in the middle of the list", async () => {
    const [first] = args.nodes;
    if (first === undefined) throw new Error("no node");
    const added = { ...first, name: "cp-0", vmId: 310, mac: "02:00:00:00:00:09" };
    const before = await make();
    const images = { ...args.images, "cp-0": "local:import/three.qcow2" };
    const after = await make({ images, nodes: args.nodes.toSpliced(1, 0, added) });
    expect(after.resources.filter(({ name }) => name !== "home-cp-0")).toEqual(before.resources);
    expect(after.resources).toHaveLength(before.resources.length + 1);
  });

  test.each([true, false])("U1 are protected here and in Proxmox as the environment says: %s", async (protect) => {
    const { resources } = await make({ protect });
    const vms = resources.filter(({ type }) => type === vmType);
    expect(vms.map((one) => [one.protect, (one.inputs as { protection: boolean }).protection])).toEqual(
      vms.map(() => [protect, protect]),
    );
  });

  test("S0.2 are reached by their own address, and identified by their MAC and by the UUID from Proxmox", async () => {
    const { result } = await make();
    const [first] = result.machines;
    if (first === undefined) throw new Error("no machine");
    expect(first).toMatchObject({ name: "cp-1", role: "controlplane", address: "10.0.0.11" });
    expect(await unwrap(first.talosAddress)).toMatchObject({ value: "10.0.0.11" });
    const identity = { mac: "02:68:39:ad:f0:7c", uuid: "uuid-of-home-cp-1" };
    expect(await unwrap(first.identity)).toMatchObject({ value: identity });
    expect(first.providerId && (await unwrap(first.providerId))).toMatchObject({ value: "proxmox://proxmox/300" });
    expect(await unwrap(first.machineId)).toMatchObject({ value: "home-cp-1-id/uuid-of-home-cp-1" });
  });

  test.each([
    ["of the image that they were made from", "shared/own-of-then", "own-of-then"],
    ["of none, where the installer is another now: these have to be upgraded", "shared-of-then/own-of-then", ""],
    ["of none, if Proxmox does not report it", undefined, ""],
  ])("U3 may run the schematic %s", async (_, version, expected) => {
    const { result } = await make(
      {},
      { state: ({ inputs }) => ({ ...inputs, smbios: { ...inputs.smbios, version } }) },
    );
    const [first] = result.machines;
    expect(first?.schematic && (await unwrap(first.schematic)).value).toBe(expected);
  });

  test("U2 are unknown in the first preview, which calls no API", async () => {
    const { result, invokes } = await make({}, { preview: true, state: ({ inputs }) => inputs });
    expect(invokes).toEqual([]);
    for (const machine of result.machines) expect(await unwrap(machine.talosAddress)).toMatchObject({ known: false });
  });
});

describe("machines with DHCP addresses", () => {
  const leases = {
    ...{ apiUrl: "https://10.0.0.2:8006", insecure: true, token: "the-token", deadlineSeconds: 300 },
    isTokenPlaceholder: false,
  };
  const found: MockOptions["state"] = (resource) =>
    resource.type.endsWith(":ProxmoxAddress") ? { ...resource.inputs, found: "10.0.0.11" } : (state?.(resource) ?? {});

  test("S4.3 are found by their MACs once they exist, and reached at the address found", async () => {
    const { resources, result } = await make({ leases, protect: true }, { state: found });
    const address = resources.find(({ type, name }) => type.endsWith(":ProxmoxAddress") && name === "home-cp-1");
    expect(address).toMatchObject({
      inputs: {
        ...{ node: "cp-1", host: "pve1", vmId: 300, mac: "02:68:39:ad:f0:7c", listed: "10.0.0.11" },
        ...{ machineId: "home-cp-1-id/uuid-of-home-cp-1", token: { secret: "the-token" }, deadlineSeconds: 300 },
      },
      dependencies: [`${vmType} home-cp-1`],
      protect: false, // it is deleted when the addresses become static
      additionalSecretOutputs: ["token"],
    });
    const [first] = result.machines;
    expect(first && (await unwrap(first.talosAddress))).toMatchObject({ value: "10.0.0.11" });
  });

  test("U2 keep the token that the state has in a preview without one", async () => {
    const { resources } = await make({ leases: { ...leases, isTokenPlaceholder: true } }, { preview: true });
    const kept = resources.filter(({ type }) => type.endsWith(":ProxmoxAddress")).map((one) => one.ignoreChanges);
    expect(kept).toEqual([["token"], ["token"]]);
  });
});

test("S4.1 a node's entry overrides the size of its role key by key", () => {
  expect(vmSize(size)).toEqual(size);
  expect(vmSize(size, { memory: 4096 })).toEqual({ cores: 4, memory: 4096, disk: 40 });
  expect(vmSize(size, { cores: 2, memory: undefined, disk: 20 })).toEqual({ cores: 2, memory: 8192, disk: 20 });
});
