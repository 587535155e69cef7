import * as proxmox from "@muhlba91/pulumi-proxmoxve";
import * as pulumi from "@pulumi/pulumi";

export interface ProxmoxCsiAccessArgs {
  readonly clusterName: string;
  /** The storage for volumes. */
  readonly storage: string;
  readonly vms: readonly {
    readonly vmId: number;
    /** Changes when a VM is recreated: Proxmox deletes permissions together with the VM. */
    readonly machineId: pulumi.Output<string>;
  }[];
}

/**
 * The driver's privileges: it reads VMs, attaches disks to them, and creates and deletes disks on the storage. From docs/install.md of
 * sergelogvinov/proxmox-csi-plugin v0.18.1; v0.16 also needed Sys.Audit (#485).
 */
const privileges = {
  vms: ["VM.Audit", "VM.Config.Disk"],
  storage: ["Datastore.Allocate", "Datastore.AllocateSpace", "Datastore.Audit"],
};

/**
 * The account of the driver for volumes: a user in Proxmox' own realm without a password, who may only manage disks of this cluster's VMs on its storage. The
 * driver gets a token of that user.
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
        { parent: this, deleteBeforeReplace: true }, // to Proxmox, old and new are the same entry
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
      // The user exists only for the driver, so the token has all of the user's privileges.
      { userId: user.userId, tokenName: "csi", privilegesSeparation: false },
      // Who has the token can do with it what it is for. Another one has its name.
      { parent: this, dependsOn: grants, deleteBeforeReplace: true },
    );
    // Proxmox returns the secret only once; the plugin has it as `<id>=<secret>`.
    const value = pulumi.secret(token.value);
    this.tokenId = pulumi.interpolate`${token.userId}!${token.tokenName}`;
    this.tokenSecret = value.apply((text) => text.slice(text.indexOf("=") + 1));
    this.registerOutputs();
  }
}
