import * as proxmoxve from "@muhlba91/pulumi-proxmoxve";
import * as pulumi from "@pulumi/pulumi";
import { FactorySchematic } from "./factorySchematic.ts";
import type { TalosPlatform } from "./installer.ts";
import { type Schematic, schematicId } from "./schematic.ts";

export interface ProxmoxImagesArgs {
  /** Images are called after it. */
  readonly clusterName: string;
  /** Talos on the images, in full and without `v`. */
  readonly talosVersion: string;
  /** What Talos is to take the machine for: it decides where a node looks for its address. */
  readonly platform: TalosPlatform;
  /** Of the VMs. */
  readonly architecture: "amd64" | "arm64";
  /** Images that are signed for Secure Boot. */
  readonly secureBoot: boolean;
  /** Host of the Image Factory. */
  readonly factory: string;
  /** Seconds in which the factory must know a schematic. */
  readonly deadline: number;
  /** A storage of every host, with content type `import`. */
  readonly storage: string;
  /** What installs and upgrades the nodes. */
  readonly installer: Schematic;
  /** What each VM starts from, and on which host. */
  readonly nodes: readonly { readonly name: string; readonly host: string; readonly schematic: Schematic }[];
}

/** One image per Proxmox host and schematic, fetched by the host itself. */
export class ProxmoxImages extends pulumi.ComponentResource {
  /** By the node's name: the image's id in Proxmox, as a disk is imported from it. */
  readonly images: Readonly<Record<string, pulumi.Output<string>>>;

  constructor(name: string, args: ProxmoxImagesArgs, opts?: pulumi.ComponentResourceOptions) {
    super("sluice:images:ProxmoxImages", name, {}, opts);

    const { factory, installer, deadline } = args;
    const tell = (name: string, schematic: Schematic) =>
      new FactorySchematic(name, { factory, schematic, deadline }, { parent: this });
    const schematics = new Map([[schematicId(installer), tell(name, installer)]]);
    const files = new Map<string, proxmoxve.download.File>();
    const images = args.nodes.map((node): [string, pulumi.Output<string>] => {
      const { schematic, host } = node;
      const id = schematicId(schematic);
      // An image that holds an address is a single node's, and called after it; the others are called after their hosts.
      const isOwn = schematic.meta !== undefined;
      const known = schematics.get(id) ?? tell(`${name}-${node.name}`, schematic);
      schematics.set(id, known);
      const file =
        files.get(`${host} ${id}`) ?? this.fetch(`${name}-${isOwn ? node.name : host}`, args, { host, id }, known);
      files.set(`${host} ${id}`, file);
      return [node.name, file.id];
    });
    this.images = Object.fromEntries(images);
    this.registerOutputs({});
  }

  private fetch(
    name: string,
    args: ProxmoxImagesArgs,
    { host, id }: { readonly host: string; readonly id: string },
    known: FactorySchematic,
  ): proxmoxve.download.File {
    const { clusterName, talosVersion, platform, architecture, factory, storage } = args;
    const image = `${platform}-${architecture}${args.secureBoot ? "-secureboot" : ""}`;
    return new proxmoxve.download.File(
      name,
      {
        nodeName: host,
        datastoreId: storage,
        contentType: "import",
        url: `https://${factory}/image/${id}/v${talosVersion}/${image}.qcow2`,
        // The cluster's own: another cluster that is destroyed does not take it along. And the host's: several may share the storage, and would
        // write over each other's file, or take it away.
        fileName: `${clusterName}-talos-${talosVersion}-${image}-${id.slice(0, 16)}-${host}.qcow2`,
        // By its name it is what it is: nobody needs to ask the factory for its size at every refresh, and a rest of a run before is none.
        overwrite: false,
        overwriteUnmanaged: true,
        uploadTimeout: 1800,
      },
      { parent: this, dependsOn: [known] },
    );
  }
}
