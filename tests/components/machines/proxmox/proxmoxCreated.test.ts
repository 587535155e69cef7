import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, test } from "@jest/globals";
import {
  type ProxmoxListing,
  proxmoxCreated,
  proxmoxVms,
  untilCreated,
  type Vm,
} from "../../../../components/machines/proxmox/proxmoxCreated.ts";

const entries = {
  "cp-1": { role: "controlplane", address: "10.0.0.11", vmId: 311 },
  "w-1": { role: "worker", address: "10.0.0.21", vmId: 321 },
} as const;
const vm: Vm = { vmid: 311, name: "home-cp-1", node: "pve2", status: "stopped", tags: "controlplane;home" };

describe("what a Proxmox cluster has of a cluster (S5.3)", () => {
  test("is a VM with the id, the name and the tag of a listed node, with the creation time from its configuration", () => {
    const meta = "creation-qemu=10.0.2,ctime=1795082400";
    expect(proxmoxCreated("home", { vms: [{ ...vm, meta }] }, { entries })).toEqual({
      component: "sluice:machines:ProxmoxMachines",
      resources: [
        {
          type: "proxmoxve:index/vmLegacy:VmLegacy",
          part: "cp-1",
          id: "311",
          importId: "pve2/311",
          title: "VM 311 (home-cp-1)",
          created: "2026-11-19T10:00:00.000Z",
          isRoot: true,
          isUsed: false,
          isUnfinished: false,
          within: [],
          uses: [],
          removal: "qm stop 311 && qm destroy 311, on pve2",
        },
      ],
      blockers: [],
    });
  });

  test("may be used while it runs", () => {
    const { resources } = proxmoxCreated("home", { vms: [{ ...vm, status: "running" }] }, { entries });
    expect(resources).toMatchObject([{ isUsed: true, created: undefined }]);
  });

  test.each<[string, Partial<Vm>, boolean]>([
    ["unfinished where it was created and never started", { tasks: ["qmcreate"] }, true],
    ["complete where it was started once", { tasks: ["qmstop", "qmstart", "qmcreate"] }, false],
    ["complete where it runs", { status: "running", tasks: ["qmcreate"] }, false],
    ["complete where Proxmox has no record of its creation any more: it may hold data", { tasks: [] }, false],
  ])("is a VM that is %s", (_, more, expected) => {
    const [found] = proxmoxCreated("home", { vms: [{ ...vm, ...more }] }, { entries }).resources;
    expect(found?.isUnfinished).toBe(expected);
  });

  test("is a pool with the cluster's comment, in which nobody else has a VM, before the VMs in it", () => {
    const pools = [
      { poolid: "talos", comment: "The Talos cluster home, made by Sluice" },
      { poolid: "other", comment: "The Talos cluster homes, made by Sluice" },
    ];
    const empty = proxmoxCreated("home", { vms: [], pools }, { entries }).resources;
    expect(empty).toMatchObject([
      { type: "proxmoxve:index/poolLegacy:PoolLegacy", part: "pool", id: "talos", isUsed: false },
    ]);
    const { resources } = proxmoxCreated("home", { vms: [{ ...vm, pool: "talos" }], pools }, { entries });
    expect(resources).toMatchObject([
      { id: "talos", isUsed: true },
      { id: "311", uses: ["proxmoxve:index/poolLegacy:PoolLegacy talos"] },
    ]);
  });

  test.each<[string, Vm]>([
    ["another id", { ...vm, vmid: 999 }],
    ["the id of another node", { ...vm, vmid: 321 }],
    ["another name", { ...vm, name: "home-cp-2" }],
    ["the name of another cluster", { ...vm, name: "other-cp-1" }],
    ["another tag", { ...vm, tags: "controlplane;homes" }],
    ["no tag", { vmid: vm.vmid, name: "home-cp-1", node: vm.node, status: vm.status }],
  ])("is no VM with %s", (_, other) => {
    expect(proxmoxCreated("home", { vms: [other] }, { entries }).resources).toEqual([]);
  });
});

describe("what a Proxmox cluster has for a cluster's VMs (S5.3)", () => {
  const fresh = expect.stringMatching(/^20\d\d-/);
  const own = (listing: Partial<ProxmoxListing>, known = {}) =>
    proxmoxCreated("home", { vms: [], ...listing }, { entries, known }).resources;

  test("is the account of the driver for volumes: roles, a user, and a token whose secret is lost", () => {
    const roles = ["home-csi-vms", "home-csi-storage", "home-csi-other", "homes-csi-vms", "PVEAdmin"];
    const account = { roles, users: ["home-csi@pve", "root@pam"], tokens: ["csi", "mine"] };
    const type = (name: string) => `proxmoxve:${name}`;
    const role = type("index/roleLegacy:RoleLegacy");
    const made = { component: "sluice:machines:ProxmoxCsiAccess", created: fresh, isUsed: false };
    expect(own({ account })).toMatchObject([
      { ...made, type: role, part: "vms", id: "home-csi-vms", removal: "pveum role delete home-csi-vms" },
      { ...made, type: role, part: "storage", id: "home-csi-storage" },
      { ...made, type: type("index/userLegacy:UserLegacy"), part: "user", id: "home-csi@pve" },
      {
        ...{ ...made, type: type("user/token:Token"), part: "token", id: "home-csi@pve!csi", isUnfinished: true },
        within: ["proxmoxve:index/userLegacy:UserLegacy home-csi@pve"],
      },
    ]);
  });

  test("is an image on the host that it is named after, by the schematic in the state that it was made from", () => {
    const file = (volume: string, host = "pve") => ({ host, volid: `local:import/${volume}`, ctime: 1795082400 });
    const [installer, node] = ["a".repeat(64), "b".repeat(64)];
    const known = { [installer]: "home-image", [node]: "home-image-cp-1", c: "other-image" };
    const image = (id: string, host = "pve") => `home-talos-1.12.6-metal-amd64-${id.slice(0, 16)}-${host}.qcow2`;
    const files = [
      file(image(installer, "pve2"), "pve2"),
      file(image(node)),
      // On a storage that hosts share.
      file(image(node), "pve2"),
      file(image("f".repeat(16))),
      file(`other-${image(node)}`),
    ];
    const component = "sluice:images:ProxmoxImages";
    const made = { type: "proxmoxve:download/file:File", component, isOverwritten: true };
    expect(own({ files }, known)).toMatchObject([
      { ...made, part: "pve2", importId: `pve2/local:import/${image(installer, "pve2")}` },
      { ...made, part: "cp-1", id: `local:import/${image(node)}`, created: "2026-11-19T10:00:00.000Z" },
    ]);
  });
});

/** An API that answers each path with this data. */
async function served(dataOf: (path: string) => unknown) {
  const server = createServer(({ url = "" }, response) => void response.end(JSON.stringify({ data: dataOf(url) })));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const apiUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { api: { apiUrl, insecure: false, token: "t", deadlineSeconds: 5 }, server };
}

describe("what an earlier run started to create (S5.3)", () => {
  test("has the tasks since it was created, and not those of an earlier VM with its id", async () => {
    const task = (type: string, starttime: number, id = "311") => ({ type, id, starttime });
    const before = [task("qmdestroy", 4), task("qmstart", 3), task("resize", 2), task("qmcreate", 1)];
    const tasks = [task("qmstart", 9, "312"), task("resize", 6), task("qmcreate", 5), ...before];
    const { api, server } = await served((path) => (/tasks/.test(path) ? tasks : /config/.test(path) ? {} : [vm]));
    const vms = await proxmoxVms(api, "home", entries, {});
    server.close();
    expect(vms).toEqual([{ ...vm, tasks: ["resize", "qmcreate"] }]);
    expect(proxmoxCreated("home", { vms }, { entries }).resources).toMatchObject([{ isUnfinished: true }]);
  });

  test("is waited for, with one report for each change, until its task has ended; tasks of others are not", async () => {
    const created = { type: "qmcreate", id: "311", starttime: 1 };
    const download = { type: "download", id: "home-talos-1.12.6.qcow2", starttime: 1 };
    const others = [
      { type: "download", id: "homes-talos-1.12.6.qcow2", starttime: 1 },
      { type: "qmcreate", id: "999", starttime: 1 },
      { type: "qmstart", id: "311", starttime: 1 },
    ];
    const answers = [
      [created, download, ...others],
      [created, download, ...others],
      [created, { ...download, endtime: 2 }, ...others],
      [{ ...created, endtime: 2 }, ...others],
    ];
    let calls = 0;
    const { api, server } = await served(() => answers[Math.min(calls++, 3)]);
    const reports: string[] = [];
    const waits: number[] = [];
    const clock = {
      now: () => 0,
      after(milliseconds: number, call: () => void) {
        waits.push(milliseconds);
        setImmediate(call);
        return () => undefined;
      },
    };
    await untilCreated(api, { cluster: "home", entries }, { clock, report: (text) => reports.push(text) });
    server.close();
    expect({ calls, waits, reports }).toEqual({
      calls: 4,
      waits: [500, 500, 500],
      reports: [
        "waiting for VM 311, image home-talos-1.12.6.qcow2, which an earlier run started to create",
        "waiting for VM 311, which an earlier run started to create",
      ],
    });
  });
});
