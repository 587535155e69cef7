// The whole chain on Proxmox: VMs that know their addresses from the first boot, and what is left of them afterwards.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { derivedMac } from "../../components/network/addressPlan.ts";
import { root } from "../../scripts/workspace/paths.ts";
import { Chain, type Run } from "../lab/support/chain.ts";
import { Proxmox } from "../lab/support/proxmox.ts";

jest.setTimeout(420_000);

describe.each(["meta", "nocloud", "dhcp"] as const)("one VM, addressed by %s", (addressing) => {
  let chain: Chain;
  let proxmox: Proxmox;
  let up: Run;
  beforeAll(async () => {
    chain = await Chain.of({ platform: "proxmox", addressing });
    proxmox = new Proxmox(chain.lab);
    await chain.provide({ "proxmoxve:apiToken": await proxmox.account("talos@pve", documentedPrivileges()) });
    up = await chain.up();
  });
  afterAll(() => chain?.down());

  test("goes from nothing to a cluster that Flux reconciles, with no more privileges than the docs ask for (S4.3, S4.7)", async () => {
    expect(up.code).toBe(0);
    expect(await chain.kubectl("get", "nodes", "--output", "name")).toBe("node/cp-1\n");
    const greeting = ["--namespace", "hello", "get", "secret", "greeting", "--output", "jsonpath={.data.greeting}"];
    expect(await chain.kubectl(...greeting)).not.toBe("");
    const { nodes } = await chain.outputs();
    expect(nodes["cp-1"]).toMatchObject({ address: "10.0.0.11", reach: "10.0.0.11" });
  });

  test("is of the shape that Talos is known to run in (S2.5, S4.1)", async () => {
    expect(await proxmox.call("GET", "/nodes/pve/qemu/311/config")).toMatchObject({
      name: "test-cp-1",
      machine: "q35",
      bios: "ovmf",
      scsihw: "virtio-scsi-single",
      onboot: 1,
      balloon: 0,
      net0: expect.stringMatching(/^virtio=02(:[0-9A-F]{2}){5},bridge=vmbr0/),
      efidisk0: expect.stringContaining("efitype=4m"),
    });
  });

  test("is left alone by an update with nothing to do (S1.6)", async () => {
    const again = await chain.up();
    expect(again.steps).toEqual([]);
  });

  if (addressing === "dhcp") {
    test("moves to a static address by its config alone: the VM stays, and does not reboot (S4.3)", async () => {
      const boot = ["get", "node", "cp-1", "--output", "jsonpath={.status.nodeInfo.bootID}"];
      const before = await chain.kubectl(...boot);
      const { nodeCidr, gateway, nameservers } = {
        nodeCidr: "10.0.0.0/16",
        gateway: "10.0.0.1",
        nameservers: ["10.0.0.1"],
      };
      chain.configure({ network: { nodeCidr, gateway, nameservers, addressing: "meta" } });
      const moved = await chain.up();
      const done = (type: string) => moved.steps.flatMap((step) => (step.type.endsWith(`:${type}`) ? [step.op] : []));
      expect([done("NodeConfiguration"), done("ProxmoxAddress"), done("VmLegacy")]).toEqual([
        ["update"],
        ["delete"],
        [],
      ]);
      expect(await chain.kubectl(...boot)).toBe(before);
      expect(await chain.talosctl("get", "addresses", "--output", "yaml")).toContain("10.0.0.11/16");
    });
  }

  test("is gone when it is destroyed, with its image (S4.7)", async () => {
    const gone = await chain.run("destroy");
    expect(gone).toMatchObject({ code: 0 });
    expect(await proxmox.left()).toEqual([]);
  });
});

describe("three control planes and two workers on three hosts", () => {
  let chain: Chain;
  let proxmox: Proxmox;
  beforeAll(async () => {
    chain = await Chain.of({ platform: "proxmox", controlPlanes: 3, workers: 2, hosts: ["pve1", "pve2", "pve3"] });
    proxmox = new Proxmox(chain.lab);
    await chain.up();
  });
  afterAll(() => chain?.down());

  test("are a cluster that Flux reconciles, from nothing, behind their VIP (S4.1, S4.4, S4.7)", async () => {
    await chain.kubectl("wait", "nodes", "--all", "--for=condition=Ready", "--timeout=0");
    const names = await chain.kubectl("get", "nodes", "--output", "name");
    expect(names.trim().split("\n")).toEqual(["cp-1", "cp-2", "cp-3", "w-1", "w-2"].map((name) => `node/${name}`));
    expect((await chain.outputs()).endpoint).toBe("https://10.0.0.20:6443");
  });

  test("have their addresses, ids and MACs, and the control planes a host each (S4.1)", async () => {
    const vms = (await proxmox.call("GET", "/cluster/resources", { type: "vm" })) as Record<string, string>[];
    const of = (name: string) => vms.find((vm) => vm.name === `test-${name}`);
    expect(new Set(["cp-1", "cp-2", "cp-3"].map((name) => of(name)?.node)).size).toBe(3);
    const cpOne = of("cp-1");
    const { net0 } = await proxmox.call("GET", `/nodes/${cpOne?.node}/qemu/311/config`);
    expect(net0).toContain(derivedMac("test", "cp-1").toUpperCase());
    const zone = ["get", "node", "cp-1", "--output", "jsonpath={.metadata.labels['topology\\.kubernetes\\.io/zone']}"];
    expect(await chain.kubectl(...zone)).toBe(cpOne?.node);
  });

  test("are left alone by an update with nothing to do (S1.6)", async () => {
    expect((await chain.up()).steps).toEqual([]);
  });
});

/** What docs/proxmox.md says that the token's user must be allowed. */
function documentedPrivileges(): string {
  const page = readFileSync(join(root, "docs", "proxmox.md"), "utf8");
  const [, privileges] = /pveum role add \w+ --privs "([^"]+)"/.exec(page) ?? [];
  if (privileges === undefined) throw new Error("docs/proxmox.md makes no role");
  return privileges;
}
