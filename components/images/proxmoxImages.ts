import * as proxmoxve from "@muhlba91/pulumi-proxmoxve";
import * as pulumi from "@pulumi/pulumi";
import type { ImageSettings } from "../model/settings/image.ts";
import { FactorySchematic } from "./factorySchematic.ts";
import { type Schematic, schematicId } from "./schematic.ts";

export interface ProxmoxImagesArgs {
  /** Prefix of the images' names. */
  readonly clusterName: string;
  /** Full version of Talos on the images, without `v`. */
  readonly talosVersion: string;
  /** Talos' name of the platform: it decides where a node looks for its address. */
  readonly platform: string;
  /** The architecture of the VMs. */
  readonly architecture: ImageSettings["architecture"];
  /** Images that are signed for Secure Boot. */
  readonly secureBoot: boolean;
  /** Host of the Image Factory. */
  readonly factory: string;
  /** Seconds in which the factory must know a schematic. */
  readonly deadlineSeconds: number;
  /** A storage of every host, with content type `import`. */
  readonly storage: string;
  /** What installs and upgrades the nodes. */
  readonly installer: Schematic;
  /** The image that each VM starts from, and its host. */
  readonly nodes: readonly { readonly name: string; readonly host: string; readonly schematic: Schematic }[];
}

/** One image per Proxmox host and schematic, downloaded by the host itself. */
export class ProxmoxImages extends pulumi.ComponentResource {
  /** By node name: the image's id in Proxmox, from which a disk is imported. */
  readonly images: Readonly<Record<string, pulumi.Output<string>>>;

  constructor(name: string, args: ProxmoxImagesArgs, opts?: pulumi.ComponentResourceOptions) {
    super("sluice:images:ProxmoxImages", name, {}, opts);

    const { factory, installer, talosVersion, deadlineSeconds } = args;
    const tell = (name: string, schematic: Schematic) =>
      new FactorySchematic(name, { factory, schematic, talosVersion, deadlineSeconds }, { parent: this });
    const schematics = new Map([[schematicId(installer), tell(name, installer)]]);
    const files = new Map<string, proxmoxve.download.File>();
    const images = args.nodes.map((node): [string, pulumi.Output<string>] => {
      const { schematic, host } = node;
      const id = schematicId(schematic);
      // An image that contains an address belongs to one node and is named after it; the others are named after their hosts.
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
        // The name has the cluster, so that destroying another cluster does not delete the image. It has the host too: several hosts may share the storage,
        // and would overwrite or delete each other's file.
        fileName: `${clusterName}-talos-${talosVersion}-${image}-${id.slice(0, 16)}-${host}.qcow2`,
        // The name identifies the content: a refresh need not ask the factory for the size, and an incomplete file of an earlier run is not used.
        overwrite: false,
        overwriteUnmanaged: true,
        uploadTimeout: 1800,
      },
      { parent: this, dependsOn: [known] },
    );
  }
}
