// The complete chain on Proxmox: VMs that know their addresses from the first boot, and what remains after destroy.
import { afterAll, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { Chain, type Run } from "../lab/support/chain.ts";
import { documentedPrivileges, Proxmox } from "../lab/support/proxmox.ts";

jest.setTimeout(300_000);

const off = { enabled: false };
const bare = { csi: off, flux: off, sealedSecrets: off };

describe.each([
  ["meta", 0],
  ["nocloud", 0],
  ["dhcp", 1],
] as const)("a control plane, addressed by %s, and workers: %i", (addressing, workers) => {
  const nodes = ["cp-1", "w-1"].slice(0, 1 + workers);
  let chain: Chain;
  let proxmox: Proxmox;
  let up: Run;
  beforeAll(async () => {
    // How it gets its address does not change what is installed: once is enough.
    chain = await Chain.of({ platform: "proxmox", workers, addressing, config: addressing === "meta" ? {} : bare });
    proxmox = new Proxmox(chain.lab);
    await chain.provide({ "proxmoxve:apiToken": await proxmox.account("talos@pve", documentedPrivileges()) });
    up = await chain.up();
  });
  afterAll(() => chain?.down());

  test("becomes a cluster from nothing, with no more privileges than the docs list (S4.3, S4.7) [C16]", async () => {
    expect(up.code).toBe(0);
    expect(await chain.kubectl("get", "nodes", "--output", "name")).toBe(
      nodes.map((node) => `node/${node}\n`).join(""),
    );
    const outputs = await chain.outputs();
    expect(Object.keys(outputs.gates).includes("GitOpsReady")).toBe(addressing === "meta");
    expect(outputs.nodes["cp-1"]).toMatchObject({ address: "10.0.0.11", reach: "10.0.0.11" });
  });

  test("has the shape that Talos is known to run in (S2.5, S4.1)", async () => {
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
    test("changes to static addresses by the configs alone, while the VMs stay and do not reboot (S4.3) [C17]", async () => {
      const boots = ["get", "nodes", "--output", "jsonpath={.items[*].status.nodeInfo.bootID}"];
      const before = await chain.kubectl(...boots);
      const network = { nodeCidr: "10.0.0.0/16", gateway: "10.0.0.1", nameservers: ["10.0.0.1"], addressing: "meta" };
      chain.configure({ network, apply: { parallel: 1 } });
      const moved = await chain.up();
      const done = (type: string) =>
        moved.steps.flatMap((step) => (step.type.endsWith(`:${type}`) ? [`${step.op} ${step.name}`] : []));
      expect([done("AppliedMachineConfig"), done("ProxmoxAddress"), done("VmLegacy")]).toEqual([
        ["update test-cp-1", "update test-w-1"],
        expect.arrayContaining(["delete test-cp-1", "delete test-w-1"]),
        [],
      ]);
      expect(await chain.kubectl(...boots)).toBe(before);
      for (const address of ["10.0.0.11", "10.0.0.21"]) {
        expect(await chain.talosctl("get", "addresses", "--nodes", address, "--output", "yaml")).toContain(
          `${address}/16`,
        );
      }
    });
  }

  test("keeps its VMs when their image changes: the hosts download the new one for VMs that are created later (S8.3)", async () => {
    chain.configure({ image: { extensions: ["siderolabs/qemu-guest-agent", "siderolabs/util-linux-tools"] } });
    const { code, steps } = await chain.run("preview");
    expect(code).toBe(0);
    const types = steps.map(({ type }) => type.split(":").at(-1));
    expect(types).toContain("File");
    expect(types).not.toContain("VmLegacy");
    chain.configure({ image: { extensions: ["siderolabs/qemu-guest-agent"] } });
  });

  test("is gone when it is destroyed, with its image (S4.7)", async () => {
    const gone = await chain.run("destroy");
    expect(gone).toMatchObject({ code: 0 });
    expect(await proxmox.left()).toEqual([]);
  });
});
