import * as proxmox from "@muhlba91/pulumi-proxmoxve";
import * as pulumi from "@pulumi/pulumi";

export interface ProxmoxCsiAccessArgs {
  readonly clusterName: string;
  /** The storage that volumes lie on. */
  readonly storage: string;
  readonly vms: readonly {
    readonly vmId: number;
    /** Changes when the VM is another one: with a VM Proxmox forgets who may do what with it. */
    readonly machineId: pulumi.Output<string>;
  }[];
}

/**
 * What the driver for volumes does: it looks at VMs, gives them disks, and makes and removes disks on the storage. As docs/install.md of
 * sergelogvinov/proxmox-csi-plugin v0.18.1 has it; v0.16 wanted Sys.Audit besides (#485).
 */
const privileges = {
  vms: ["VM.Audit", "VM.Config.Disk"],
  storage: ["Datastore.Allocate", "Datastore.AllocateSpace", "Datastore.Audit"],
};

/**
 * The account of the driver for volumes: a user of Proxmox' own realm without a password, who may do what the driver does with the disks of
 * this cluster's VMs and on its storage, and nothing else. A token stands for the user.
 */
export class ProxmoxCsiAccess extends pulumi.ComponentResource {
  /** `<user>@<realm>!<name>`. */
  readonly tokenId: pulumi.Output<string>;
  /** Secret. */
  readonly tokenSecret: pulumi.Output<string>;

  constructor(name: string, args: ProxmoxCsiAccessArgs, opts: pulumi.ComponentResourceOptions) {
    super("sluice:machines:ProxmoxCsiAccess", name, {}, opts);
    const { clusterName, storage } = args;
    const role = (of: keyof typeof privileges) =>
      new proxmox.RoleLegacy(
        `${name}-${of}`,
        { roleId: `${clusterName}-csi-${of}`, privileges: privileges[of] },
        { parent: this },
      ).roleId;
    const [vms, disks] = [role("vms"), role("storage")];
    const user = new proxmox.UserLegacy(
      `${name}-user`,
      { userId: `${clusterName}-csi@pve`, comment: `Volumes of the Kubernetes cluster ${clusterName}` },
      { parent: this },
    );
    const grant = (on: string, path: pulumi.Input<string>, roleId: pulumi.Input<string>) =>
      new proxmox.Acl(
        `${name}-on-${on}`,
        { path, userId: user.userId, roleId, propagate: true },
        { parent: this, deleteBeforeReplace: true }, // the new right is the old one again
      );
    const grants = [
      ...args.vms.map(({ vmId, machineId }) =>
        grant(
          `${vmId}`,
          machineId.apply(() => `/vms/${vmId}`),
          vms,
        ),
      ),
      grant(storage, `/storage/${storage}`, disks),
    ];
    const token = new proxmox.user.Token(
      `${name}-token`,
      // The user is there for the driver alone, so that the token may all that the user may.
      { userId: user.userId, tokenName: "csi", privilegesSeparation: false },
      { parent: this, dependsOn: grants }, // who has the token can do with it what it is for
    );
    // Proxmox says the secret once, and the plugin as `<id>=<secret>`.
    const value = pulumi.secret(token.value);
    this.tokenId = pulumi.interpolate`${token.userId}!${token.tokenName}`;
    this.tokenSecret = value.apply((text) => text.slice(text.indexOf("=") + 1));
    this.registerOutputs();
  }
}
