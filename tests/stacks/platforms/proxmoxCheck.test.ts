import { describe, expect, test } from "@jest/globals";
import { parseClusterConfig } from "../../../stacks/config/config.ts";
import { type CheckedConfig, proxmoxCheck, proxmoxFindings } from "../../../stacks/platforms/proxmoxCheck.ts";
import type { Guest, ProxmoxOffer } from "../../../stacks/platforms/proxmoxOffer.ts";
import { pathsOf, privilegeNeeds } from "../../../stacks/platforms/proxmoxPrivileges.ts";
import { changed, rawConfig } from "../../support/rawConfig.ts";

function configOf(changes: Readonly<Record<string, unknown>> = {}): CheckedConfig {
  const raw = Object.entries(changes).reduce((all, [path, value]) => changed(all, path, value), rawConfig("home"));
  return parseClusterConfig(raw) as unknown as CheckedConfig;
}

const gib = 2 ** 30;
/** Of every kind that is needed anywhere. */
const privileges = privilegeNeeds(configOf({ "proxmox.pool": "talos", "network.addressing": "nocloud" }), true).flatMap(
  (need) => [...need.privileges, ...(need.instead?.privileges ?? [])],
);

function mayAll(config: CheckedConfig): Record<string, readonly string[]> {
  return Object.fromEntries(pathsOf(privilegeNeeds(config, true)).map((path) => [path, privileges]));
}

const storages = [
  { storage: "local", content: "iso,vztmpl,import", active: 1, enabled: 1, avail: 400 * gib },
  { storage: "local-lvm", content: "images,rootdir", active: 1, enabled: 1, avail: 400 * gib },
];

/** A host with nothing on it, as the API answered, as far as it matters here. */
const empty: Omit<ProxmoxOffer, "privileges"> = {
  hosts: [{ node: "pve", status: "online", maxmem: 128 * gib, mem: 8 * gib }],
  release: { value: "9.1.4" },
  guests: { value: [] },
  taken: { value: [] },
  pools: { value: [] },
  storages: { pve: { value: storages } },
  bridges: { pve: { value: [{ iface: "vmbr0", type: "bridge" }] } },
};

const guest = (vmid: number, name: string, more: Partial<Guest> = {}): Guest => ({
  ...{ vmid, name, node: "pve", type: "qemu" },
  ...more,
});
/** All VMs of the environment. */
const deployed = configOf().nodes.map(({ name, vmId = 0 }) => guest(vmId, `home-${name}`, { tags: "home;worker" }));
const recorded = deployed.map(({ vmid }) => `${vmid}`);

interface Known {
  readonly recorded?: readonly string[] | undefined;
  readonly isSettled?: boolean;
}

function found(
  changes: Readonly<Record<string, unknown>>,
  offer: Partial<ProxmoxOffer> = {},
  known: Known = { recorded: [] },
): readonly string[] {
  const config = configOf(changes);
  const offered = { ...empty, privileges: { value: mayAll(config) }, ...offer };
  return proxmoxFindings(config, offered, { isSettled: false, ...known }).map(
    ({ code, path, message, isWarning }) => `${isWarning === true ? "warning " : ""}${code} ${path}: ${message}`,
  );
}

const offline = { hosts: [{ node: "pve", status: "offline" }], storages: { pve: { reason: "595 No route to host" } } };
const withStorage = (storage: string, change: object) => ({
  storages: { pve: { value: storages.map((one) => (one.storage === storage ? { ...one, ...change } : one)) } },
});

describe("what a Proxmox cluster has", () => {
  test.each<[what: string, changes: Readonly<Record<string, unknown>>, Partial<ProxmoxOffer>, readonly string[]]>([
    ["everything", {}, {}, []],
    [
      "no such host",
      { "proxmox.hosts[0]": "pve1" },
      {},
      ["SLU-M121 proxmox.hosts[0]: 'pve1' is not a host of this Proxmox - did you mean 'pve'?"],
    ],
    [
      "a host that is off",
      {},
      offline,
      ["SLU-M121 proxmox.hosts[0]: pve is offline, the host of cp-1, cp-2, cp-3, w-1, w-2"],
    ],
    [
      "no such storage",
      { "proxmox.storage": "ceph" },
      {},
      ["SLU-M121 proxmox.storage: 'ceph' is not a storage of pve that the token may see: those are local, local-lvm"],
    ],
    [
      "no such storage for volumes",
      { "proxmox.volumes": { storage: "local-lvn" } },
      {},
      [
        "SLU-M121 proxmox.volumes.storage: 'local-lvn' is not a storage of pve that the token may see - did you mean 'local-lvm'?",
      ],
    ],
    [
      "a storage that is not mounted",
      {},
      withStorage("local-lvm", { active: 0 }),
      ["SLU-M121 proxmox.storage: local-lvm is not active on pve"],
    ],
    [
      "a storage without the content type for images",
      {},
      withStorage("local", { content: "iso,vztmpl" }),
      ["SLU-M121 proxmox.imageStorage: local does not allow the content type 'import', but only iso, vztmpl"],
    ],
    [
      "no such bridge",
      { "proxmox.bridge": "vmbr9" },
      {},
      ["SLU-M121 proxmox.bridge: 'vmbr9' is not a bridge of pve that the token may use - did you mean 'vmbr0'?"],
    ],
    [
      "a version that cannot import images",
      {},
      { release: { value: "8.3.5" } },
      ["SLU-M121 proxmox.endpoint: is Proxmox VE 8.3.5, which cannot import images: 8.4 or later can"],
    ],
    ["the first version that can import images", {}, { release: { value: "8.4.0" } }, []],
    [
      "too little memory",
      {},
      { hosts: [{ node: "pve", status: "online", maxmem: 32 * gib, mem: 8 * gib }] },
      ["warning SLU-M121 proxmox.sizes: new VMs on pve take 56 GiB of memory, and 24 GiB are free"],
    ],
    [
      "too little space",
      {},
      withStorage("local-lvm", { avail: 100.5 * gib }),
      ["warning SLU-M121 proxmox.sizes: new VMs on pve have disks of 320 GiB, and local-lvm has 100.5 GiB free"],
    ],
    [
      "a pool of someone else",
      { "proxmox.pool": "talos" },
      { pools: { value: [{ poolid: "talos", comment: "mine" }] } },
      ["SLU-M122 proxmox.pool: there is a pool 'talos' already, which is not of this cluster"],
    ],
  ])("S6.1 is compared with what an environment names: %s", (_, changes, offer, expected) => {
    expect(found(changes, offer)).toEqual(expected);
  });

  test("S6.1 that is missing stops only a run that creates something there", () => {
    const offer = { ...offline, guests: { value: deployed } };
    expect(found({}, offer, { recorded })).toEqual([
      "warning SLU-M121 proxmox.hosts[0]: pve is offline, the host of cp-1, cp-2, cp-3, w-1, w-2",
    ]);
    const others = deployed.slice(1);
    expect(found({}, { ...offer, guests: { value: others } }, { recorded })).toEqual([
      "SLU-M121 proxmox.hosts[0]: pve is offline, the host of cp-1, cp-2, cp-3, w-1, w-2",
    ]);
  });

  test("S4.1 counts only new VMs when it compares sizes with what is free", () => {
    const full = { hosts: [{ node: "pve", status: "online", maxmem: 64 * gib, mem: 60 * gib }] };
    expect(found({}, { ...full, guests: { value: deployed } }, { recorded })).toEqual([]);
  });
});

describe("the VM ids of an environment", () => {
  test.each<[what: string, there: Guest, expected: readonly string[]]>([
    [
      "another VM",
      guest(303, "windows", { tags: "office" }),
      ["SLU-M122 nodes[].vmId (w-1): 303 is the id of the VM windows on pve, which is not of this cluster"],
    ],
    [
      "a container",
      guest(303, "dns", { type: "lxc" }),
      ["SLU-M122 nodes[].vmId (w-1): 303 is the id of the container dns on pve, which is not of this cluster"],
    ],
    [
      "a VM with this cluster's mark",
      guest(303, "home-w-1", { tags: "home;worker" }),
      [
        "warning SLU-M122 nodes[].vmId (w-1): the VM home-w-1 on pve (id 303) has the mark of this cluster and is in no state: 'up' adopts it if an earlier run left it",
      ],
    ],
  ])("S4.1 may be taken: by %s", (_, there, expected) => {
    expect(found({}, { guests: { value: [there] } })).toEqual(expected);
  });

  test("S4.1 are this cluster's if they are in the state, whatever was changed by hand", () => {
    const renamed = deployed.map((one) => ({ ...one, name: "mine", tags: "" }));
    expect(found({}, { guests: { value: renamed } }, { recorded })).toEqual([]);
  });

  test("S4.1 may be taken by what the token does not see: Proxmox refuses such an id", () => {
    expect(found({}, { taken: { value: [301] } })).toEqual([
      "SLU-M122 nodes[].vmId (cp-2): 301 is in use, by a VM or container that the token may not see",
    ]);
  });
});

describe("the privileges of a token", () => {
  const without = (changes: Readonly<Record<string, unknown>>, path: string, names: readonly string[]) => {
    const held = mayAll(configOf(changes));
    return { privileges: { value: { ...held, [path]: privileges.filter((one) => !names.includes(one)) } } };
  };

  test.each<[path: string, names: readonly string[]]>([
    ["/vms/302", ["VM.Allocate", "VM.Config.Disk"]],
    ["/storage/local-lvm", ["Datastore.AllocateSpace"]],
    ["/storage/local", ["Datastore.AllocateTemplate"]],
    ["/sdn/zones/localnetwork/vmbr0", ["SDN.Use"]],
    ["/access", ["Sys.Modify"]],
    ["/access/groups", ["User.Modify"]],
    ["/access/realm/pve", ["Realm.AllocateUser"]],
  ])("S6.1 that are missing are named with their path: %s", (path, names) => {
    expect(found({}, without({}, path, names))).toEqual([
      `SLU-M123 proxmoxve:apiToken: the token does not have ${names.join(", ")} on ${path}`,
    ]);
  });

  test("S6.1 on all VMs may be those on their pool", () => {
    const pool = { "proxmox.pool": "talos" };
    expect(found(pool, without(pool, "/vms/302", ["VM.Allocate"]))).toEqual([]);
  });

  test("S6.1 to have a host download an image are on the host, or on everything", () => {
    expect(found({}, without({}, "/nodes/pve", ["Sys.AccessNetwork"]))).toEqual([]);
    const held = { ...mayAll(configOf()), "/nodes/pve": [], "/": ["Sys.Modify"] };
    expect(found({}, { privileges: { value: held } })).toEqual([
      "SLU-M123 proxmoxve:apiToken: the token does not have Sys.AccessNetwork on /nodes/pve",
    ]);
  });

  test("S6.1 for the driver's account matter only with volumes", () => {
    expect(found({ csi: { enabled: false } }, without({}, "/access", ["Sys.Modify"]))).toEqual([]);
  });

  test("S6.1 that are missing are a warning where nothing is created", () => {
    const offer = { ...without({}, "/vms/302", ["VM.Allocate"]), guests: { value: deployed } };
    expect(found({}, offer, { recorded })).toEqual([
      "warning SLU-M123 proxmoxve:apiToken: the token does not have VM.Allocate on /vms/302",
    ]);
  });
});

test("S6.1 what Proxmox does not answer is named, and everything else is checked", async () => {
  const answers: Readonly<Record<string, unknown>> = {
    "/nodes": empty.hosts,
    "/version": { version: "9.1.4" },
    "/nodes/pve/storage": storages,
  };
  const asked = new Set<string>();
  const { findings, unchecked } = await proxmoxCheck(configOf({ "proxmox.storage": "ceph" }), {
    ...{ environment: "home", token: "a@pve!b=secret", deadlineSeconds: 3, recorded: [], isSettled: false },
    async send(url, { method = "GET", headers }) {
      expect(headers).toEqual({ authorization: "PVEAPIToken=a@pve!b=secret" });
      const path = url.replace("https://10.0.0.2:8006/api2/json", "");
      asked.add(`${method} ${path.replace(/\d{3}/, "<id>")}`);
      const data = answers[path];
      if (data === undefined) return { status: 403, reason: "Permission check failed", body: "" };
      return { status: 200, reason: "OK", body: JSON.stringify({ data }) };
    },
  });
  expect(findings.map(({ path }) => path)).toEqual(["proxmox.storage"]);
  expect(unchecked).toEqual(
    ["the VMs", "the VM ids in use", "the bridges of pve", "the token's privileges"].map(
      (what) => `${what} (403 Permission check failed)`,
    ),
  );
  expect([...asked].filter((call) => !call.startsWith("GET /"))).toEqual([]);
});
