// What is asked of a platform before anything is created, asked of the lab's own APIs.
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { stringify } from "yaml";
import { root } from "../../scripts/base/paths.ts";
import type { PlatformCall } from "../../scripts/inspect/platformInside.ts";
import type { PlatformAccess } from "../../stacks/askPlatform.ts";
import { parseClusterConfig } from "../../stacks/config/config.ts";
import type { ApiAnswers } from "../../stacks/platforms/apiCheck.ts";
import { changed, type RawConfig, rawConfig } from "../support/rawConfig.ts";
import { Cloud } from "./support/cloud.ts";
import { Lab } from "./support/lab.ts";
import { documentedPrivileges, Proxmox } from "./support/proxmox.ts";

jest.setTimeout(180_000);

let lab: Lab;
beforeAll(async () => {
  const needs = (["cloud", "home"] as const).map((base) => {
    const config = parseClusterConfig(rawConfig(base));
    return config.platform.lab.needs(config);
  });
  lab = await Lab.up({ config: stringify(Object.assign({}, ...needs)) });
});
afterAll(() => lab?.down());

const inside = join(root, "scripts", "inspect", "platformInside.ts");

type Base = "cloud" | "home";

/** Asks as the npm commands do, from inside the lab; with another token in place of the lab's. */
async function ask(base: Base, raw: RawConfig, access: Partial<PlatformAccess> = {}, token?: string) {
  const variable = base === "cloud" ? "HCLOUD_TOKEN" : "PROXMOX_VE_API_TOKEN";
  const values = Object.entries(raw).map(([key, value]) => [`sluice:${key}`, value]);
  const call: PlatformCall = {
    file: join(root, `Pulumi.${base}.yaml`),
    settings: stringify({ config: Object.fromEntries(values) }),
    variable,
    access: { environment: base, recorded: [], isSettled: false, ...access },
  };
  const program = ["--disable-warning=ExperimentalWarning", inside];
  // The lab sets its own.
  const own = token === undefined ? [] : [`${variable}=${token}`];
  const said = await lab.said("env", [...own, process.execPath, ...program], { input: JSON.stringify(call) });
  const { findings, unchecked }: ApiAnswers = JSON.parse(said);
  return {
    faults: findings.filter(({ isWarning }) => isWarning !== true).map(({ path, message }) => `${path}: ${message}`),
    warnings: findings.filter(({ isWarning }) => isWarning === true).map(({ path, message }) => `${path}: ${message}`),
    unchecked,
  };
}

const nothing = { faults: [], warnings: [], unchecked: [] };

describe("the check of an environment by the platform's API", () => {
  test.each(["cloud", "home"] as const)("S6.1 finds nothing where everything exists: %s", async (base) => {
    expect(await ask(base, rawConfig(base))).toEqual(nothing);
  });

  test("S6.1 names at once everything that Hetzner does not have", async () => {
    const changes = {
      "nodes[0].serverType": "cpx31",
      "nodes[1].location": "muc1",
      "hetzner.serverTypes": { worker: "cx99" },
      "hetzner.loadBalancer.type": "lb99",
      talosVersion: "1.13.7",
    };
    const raw = Object.entries(changes).reduce((all, [path, value]) => changed(all, path, value), rawConfig("cloud"));
    const { faults, ...others } = await ask("cloud", raw);
    expect(others).toEqual({ warnings: [], unchecked: [] });
    expect(faults).toEqual([
      expect.stringMatching(
        /^nodes\[\]\.serverType \(cp-1\): cpx31 is not sold at fsn1 since 2025-12-31, which has ccx13, /,
      ),
      "nodes[].location (cp-2): 'muc1' is not a location of Hetzner: it has fsn1, nbg1, hel1, ash, hil, sin",
      expect.stringMatching(/^hetzner\.serverTypes\.worker: 'cx99' is not a server type of Hetzner: it has .*\bcx23\b/),
      "hetzner.loadBalancer.type: 'lb99' is not a load balancer type of Hetzner: it has lb11, lb21, lb31",
      expect.stringMatching(/^hetzner\.snapshot: no snapshot for amd64 has the labels .*version=1\.13\.7$/),
    ]);
  });

  test("S6.1 finds a server of someone else that has the name of a node", async () => {
    const cloud = new Cloud(lab);
    const image = await cloud.snapshot("1.13.8");
    const body = { name: "cloud-w-1", server_type: "cx33", location: "fsn1", image, start_after_create: false };
    const { server } = await cloud.call("POST", "/servers", body);
    expect(await ask("cloud", rawConfig("cloud"))).toEqual({
      ...nothing,
      faults: [
        `nodes[].name (w-1): the project has a server cloud-w-1 (id ${server.id}) already, without the label cluster=cloud of this cluster`,
      ],
    });
    expect((await ask("cloud", rawConfig("cloud"), { recorded: [`${server.id}`] })).faults).toEqual([]);
    await cloud.call("DELETE", `/servers/${server.id}`);
  });

  test("S6.1 names at once everything that Proxmox does not have", async () => {
    const proxmox = { ...(rawConfig("home").proxmox as object), storage: "local-lvn", imageStorage: "local-lvm" };
    const raw = { ...rawConfig("home"), proxmox: { ...proxmox, bridge: "vmbr1", hosts: ["pve", "pve2"] } };
    expect(await ask("home", raw)).toEqual({
      ...nothing,
      faults: [
        "proxmox.hosts[1]: 'pve2' is not a host of this Proxmox - did you mean 'pve'?",
        "proxmox.storage: 'local-lvn' is not a storage of pve that the token may see - did you mean 'local-lvm'?",
        "proxmox.imageStorage: local-lvm does not allow the content type 'import', but only images, rootdir; local does",
        "proxmox.bridge: 'vmbr1' is not a bridge of pve that the token may use - did you mean 'vmbr0'?",
      ],
    });
  });

  test("S6.1 finds a VM of someone else that has the id of a node, also one that the token may not see", async () => {
    const proxmox = new Proxmox(lab);
    await proxmox.call("POST", "/nodes/pve/qemu", { vmid: "303", name: "windows" });
    expect((await ask("home", rawConfig("home"))).faults).toEqual([
      "nodes[].vmId (w-1): 303 is the id of the VM windows on pve, which is not of this cluster",
    ]);
    const all = new Set(documentedPrivileges().split(" "));
    const token = await proxmox.account("blind@pve", [...all].filter((one) => one !== "VM.Audit").join(" "));
    expect((await ask("home", rawConfig("home"), {}, token)).faults).toEqual([
      "nodes[].vmId (w-1): 303 is in use, by a VM or container that the token may not see",
      "proxmoxve:apiToken: the token does not have VM.Audit on /vms/300, /vms/301, /vms/302, /vms/303, /vms/304",
    ]);
    await proxmox.call("DELETE", "/nodes/pve/qemu/303");
  });

  test("S6.1 finds nothing to object to with exactly the privileges that the documentation names", async () => {
    const token = await new Proxmox(lab).account("enough@pve", documentedPrivileges());
    expect(await ask("home", rawConfig("home"), {}, token)).toEqual(nothing);
  });

  test.each([
    ["cloud", "x".repeat(64)],
    ["home", "sluice@pve!lab=00000000-0000-0000-0000-000000000000"],
  ] as const)("S5.3 finds a token that the API does not accept: %s", async (base, token) => {
    const key = base === "cloud" ? "hcloud:token" : "proxmoxve:apiToken";
    expect(await ask(base, rawConfig(base), {}, token)).toEqual({
      ...nothing,
      faults: [expect.stringMatching(new RegExp(`^${key}: the token is not accepted: http.* answers 401`))],
    });
  });

  test.each(["cloud", "home"] as const)("U2 names in one line what the API does not answer: %s", async (base) => {
    const fault = await lab.fault({
      on: "cloud",
      subject: base === "cloud" ? "hetzner" : "proxmox",
      do: "fail",
      code: "503",
    });
    expect(await ask(base, rawConfig(base))).toEqual({
      ...nothing,
      unchecked: [expect.stringMatching(/^http.* answers 503\b/)],
    });
    await lab.endFault(fault);
  });
});
