// Two VMs of Talos on two hosts, a pool for them, and an account that may use their storage, as a user writes it who has
// the provider and nothing else. It shares nothing with Sluice: what is tested with it is the lab.
import * as proxmox from "@muhlba91/pulumi-proxmoxve";
import * as pulumi from "@pulumi/pulumi";

const config = new pulumi.Config();
const schematic = config.require("schematic");
const memory = config.requireNumber("memory");
/** The host of the second VM. */
const host = config.require("host");

// The API's address is in an environment variable, from which the provider always reads it.
const provider = new proxmox.Provider("lab", { insecure: true, apiToken: config.require("token") });
const options = { provider };

const pool = new proxmox.PoolLegacy("talos", { poolId: "talos", comment: "Nodes" }, options);

const machines = [
  { name: "one", at: "pve", host: "pve", platform: "metal", vmId: 300, mac: "BC:24:11:00:00:0A" },
  { name: "two", at: "pve2", host, platform: "nocloud", vmId: 301, mac: "BC:24:11:00:00:0B" },
].map(({ name, at, host, platform, vmId, mac }) => {
  const image = new proxmox.download.File(
    name,
    {
      nodeName: at,
      datastoreId: "local",
      contentType: "import",
      fileName: `talos-${platform}.qcow2`,
      url: `https://factory.talos.dev/image/${schematic}/v1.13.8/${platform}-amd64.qcow2`,
    },
    options,
  );
  return new proxmox.VmLegacy(
    name,
    {
      nodeName: host,
      vmId,
      name,
      poolId: pool.poolId,
      tags: ["sluice", "talos"],
      machine: "q35",
      bios: "ovmf",
      scsiHardware: "virtio-scsi-single",
      operatingSystem: { type: "l26" },
      cpu: { cores: 2, type: "x86-64-v2-AES" },
      memory: { dedicated: memory },
      agent: { enabled: true, timeout: "1m" },
      efiDisk: { datastoreId: "local-lvm", type: "4m" },
      tpmState: { datastoreId: "local-lvm", version: "v2.0" },
      disks: [{ interface: "scsi0", datastoreId: "local-lvm", importFrom: image.id, size: 20, discard: "on" }],
      // Otherwise it would be the host's own drive, for which an account needs console access.
      cdrom: { fileId: "none" },
      networkDevices: [{ bridge: "vmbr0", macAddress: mac, model: "virtio" }],
      bootOrders: ["scsi0"],
      onBoot: true,
      startup: { order: 1 },
      serialDevices: [{}],
      stopOnDestroy: true,
      migrate: true,
      ...(platform === "nocloud"
        ? {
            initialization: {
              datastoreId: "local-lvm",
              ipConfigs: [{ ipv4: { address: "10.0.0.12/16", gateway: "10.0.0.1" } }],
              dns: { servers: ["10.0.0.1"] },
            },
          }
        : {}),
    },
    // The provider has a default there that the API does not return: without this every preview has a change.
    { ...options, ignoreChanges: ["disks[0].speed"] },
  );
});

const role = new proxmox.RoleLegacy(
  "csi",
  {
    roleId: "CSI",
    privileges: ["Datastore.Allocate", "Datastore.AllocateSpace", "Datastore.Audit", "VM.Audit", "VM.Config.Disk"],
  },
  options,
);
const user = new proxmox.UserLegacy("csi", { userId: "csi@pve", comment: "Volumes" }, options);
const token = new proxmox.user.Token(
  "csi",
  { userId: user.userId, tokenName: "csi", privilegesSeparation: true },
  options,
);
for (const [name, whom] of Object.entries({ user: { userId: user.userId }, token: { tokenId: token.id } })) {
  new proxmox.Acl(name, { ...whom, path: "/storage/local-lvm", roleId: role.roleId, propagate: true }, options);
}

export const addresses = machines.map(({ ipv4Addresses }) => ipv4Addresses);
export const value = token.value;
