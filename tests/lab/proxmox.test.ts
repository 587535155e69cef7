// The real Terraform provider for Proxmox VE, as a plugin of the real engine, against the lab: a plain program goes through its complete
// life there. This proves that the lab's Proxmox answers as the provider's authors expect.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { root } from "../../scripts/base/paths.ts";
import { Engine } from "./support/engine.ts";
import { Lab } from "./support/lab.ts";
import { Proxmox } from "./support/proxmox.ts";

jest.setTimeout(600_000);

const config = `proxmox: { address: 10.0.0.2, hosts: [pve, pve2], network: 10.0.0.0/16, gateway: 10.0.0.1, dhcp: true }`;
const schematic = "ce4c980550dd2ab1b17bbf2b08801c7eb59418eafe8f279833297925d67c7515";
const customization =
  "customization:\n    systemExtensions:\n        officialExtensions:\n            - siderolabs/qemu-guest-agent\n";

/** The privileges of an account in docs/proxmox.md. */
const [, enough = ""] =
  /pveum role add \S+ --privs "(.*)"/.exec(readFileSync(join(root, "docs", "proxmox.md"), "utf8")) ?? [];

describe("a plain program with only the Proxmox provider", () => {
  let lab: Lab;
  let proxmox: Proxmox;
  let engine: Engine;
  beforeAll(async () => {
    lab = await Lab.up({ config });
    proxmox = new Proxmox(lab);
    const told = await lab.said("curl", ["--silent", "--data-binary", customization, "http://192.0.2.20/schematics"]);
    expect(JSON.parse(told)).toEqual({ id: schematic });
    const token = await proxmox.account("pulumi@pve", enough);
    engine = await Engine.of(lab, join(import.meta.dirname, "programs", "proxmox"), {
      schematic,
      memory: "4096",
      host: "pve2",
      token,
    });
  });
  afterAll(() => lab?.down());

  test("creates VMs that run Talos and report their addresses", async () => {
    const up = await engine.call("up");
    expect(up).toMatchObject({ code: 0 });
    const { addresses } = await engine.outputs();
    const [leases] = [JSON.parse((await lab.call("status")).stdout).lab.leases];
    expect(leases).toMatchObject([{ mac: "bc:24:11:00:00:0a", machine: "one" }]);
    expect(addresses).toEqual([expect.arrayContaining([[leases[0].address]]), expect.arrayContaining([["10.0.0.12"]])]);
    for (const node of [leases[0].address, "10.0.0.12"]) {
      expect(await lab.said("talosctl", ["get", "disks", "--insecure", "--nodes", node])).toContain("sda");
    }
  });

  test("created what it declares", async () => {
    expect(await proxmox.call("GET", "/nodes/pve/qemu/300/config")).toMatchObject({
      name: "one",
      bios: "ovmf",
      machine: "q35",
      memory: "4096",
      onboot: 1,
      tags: "sluice;talos",
      net0: "virtio=BC:24:11:00:00:0A,bridge=vmbr0,firewall=0",
      boot: "order=scsi0",
      efidisk0: expect.stringMatching(/^local-lvm:vm-300-disk-\d,efitype=4m,.*size=4M$/),
      scsi0: expect.stringMatching(/^local-lvm:vm-300-disk-\d,.*size=20G/),
    });
    const [pool] = await proxmox.call("GET", "/pools", { poolid: "talos" });
    expect(pool.members.map(({ vmid }: { vmid: number }) => vmid)).toEqual([300, 301]);
  });

  test("created an account with exactly the privileges that it was granted", async () => {
    const { value } = await engine.outputs();
    const csi = new Proxmox(lab, String(value));
    const storages = await csi.call("GET", "/nodes/pve/storage");
    expect(storages.map(({ storage }: { storage: string }) => storage)).toEqual(["local-lvm"]);
    expect(await csi.ask("DELETE", "/nodes/pve/qemu/300")).toMatchObject({
      status: 403,
      reason: "Permission check failed (/vms/300, VM.Allocate)",
    });
  });

  test("has nothing to change in the next run", async () => {
    expect(await engine.call("preview", "--expect-no-changes")).toMatchObject({ code: 0 });
  });

  test("finds no drift in what it created, and finds what someone else changed", async () => {
    expect(await engine.call("refresh", "--expect-no-changes")).toMatchObject({ code: 0 });
    await proxmox.call("PUT", "/nodes/pve/qemu/300/config", { onboot: "0" });
    expect((await engine.call("refresh", "--expect-no-changes")).code).not.toBe(0);
    expect(await engine.call("up")).toMatchObject({ code: 0 });
    expect(await proxmox.call("GET", "/nodes/pve/qemu/300/config")).toMatchObject({ onboot: 1 });
  });

  test("changes what its program changes, with the restart that this needs", async () => {
    await engine.set({ memory: "8192" }, "--plaintext");
    expect(await engine.call("up")).toMatchObject({ code: 0 });
    const current = await proxmox.call("GET", "/nodes/pve/qemu/300/status/current");
    expect(current).toMatchObject({ status: "running", maxmem: 8192 * 2 ** 20 });
    expect(await engine.call("preview", "--expect-no-changes")).toMatchObject({ code: 0 });
  });

  test("moves a running machine to another host, with its disks", async () => {
    const power = () => lab.facts.all.filter(({ subject, what }) => subject === "two" && what === "power");
    const before = power();
    await engine.set({ host: "pve" }, "--plaintext");
    expect(await engine.call("up")).toMatchObject({ code: 0 });
    expect(await proxmox.call("GET", "/nodes/pve/qemu/301/status/current")).toMatchObject({ status: "running" });
    expect(await proxmox.call("GET", "/nodes/pve2/storage/local-lvm/content")).toEqual([]);
    expect(await lab.said("talosctl", ["get", "disks", "--insecure", "--nodes", "10.0.0.12"])).toContain("sda");
    expect(power()).toEqual(before);
    expect(await engine.call("preview", "--expect-no-changes")).toMatchObject({ code: 0 });
    expect(await engine.call("refresh", "--expect-no-changes")).toMatchObject({ code: 0 });
  });

  test("is destroyed to the last resource", async () => {
    expect(await engine.call("destroy")).toMatchObject({ code: 0 });
    expect(await proxmox.left()).toEqual([]);
    const users = await proxmox.call("GET", "/access/users");
    expect(users.map(({ userid }: { userid: string }) => userid)).toEqual(["pulumi@pve", "root@pam", "sluice@pve"]);
  });
});

describe("a Proxmox host that is down", () => {
  const knock = ["--insecure", "--silent", "--max-time", "2", "https://10.0.0.2:8006/api2/json/version"];

  test("does not answer until it is back", async () => {
    const alone = "proxmox: { address: 10.0.0.2, network: 10.0.0.0/16, gateway: 10.0.0.1 }";
    await Lab.during({ config: alone }, async (lab) => {
      const proxmox = new Proxmox(lab);
      await proxmox.call("GET", "/version");
      const id = await lab.fault({ on: "host", subject: "pve", do: "absent" });
      await lab.until({ subject: "pve", what: "host", value: "down" });
      expect(await lab.exec("curl", knock)).toMatchObject({ code: 28 });
      await lab.endFault(id);
      await lab.until({ subject: "pve", what: "host", value: "up" });
      await proxmox.call("GET", "/version");
    });
  });
});
