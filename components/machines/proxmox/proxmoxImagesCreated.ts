// The images of a cluster that the storages of Proxmox hosts have, by the names that `ProxmoxImages` gives.
import { type ProxmoxApi, proxmoxGet } from "../../api/proxmoxApi.ts";
import type { CreatedResource } from "../../lifecycle/createdResource.ts";
import { list, record, text } from "../../model/untyped.ts";

/** A file as a host lists it. */
export interface ImageFile {
  readonly host: string;
  /** `local:import/home-talos-...qcow2` */
  readonly volid: string;
  /** When it was written, in seconds since 1970. */
  readonly ctime?: number;
}

/** How the files of a cluster begin. */
export function imagePrefix(cluster: string): string {
  return `${cluster}-talos-`;
}

/** Of the hosts that are up, and their storages for such files. */
export async function imageFiles(api: ProxmoxApi): Promise<readonly ImageFile[]> {
  const hosts = list(await proxmoxGet(api, "/nodes"))
    .map(record)
    .filter(({ status }) => status === "online")
    .map(({ node }) => text(node));
  const files = hosts.map(async (host) => {
    const path = `/nodes/${host}/storage`;
    const storages = list(await proxmoxGet(api, `${path}?content=import&enabled=1`)).map(record);
    const contents = storages.map(({ storage }) => proxmoxGet(api, `${path}/${text(storage)}/content?content=import`));
    return (await Promise.all(contents)).flatMap(list).map((file) => {
      const { volid, ctime } = record(file);
      return { host, volid: text(volid), ...(typeof ctime === "number" && { ctime }) };
    });
  });
  return (await Promise.all(files)).flat();
}

/** `known` has the schematics of a state, which were registered before any image of theirs was fetched. */
export function imagesCreated(
  cluster: string,
  files: readonly ImageFile[],
  known: Readonly<Record<string, string>>,
): readonly CreatedResource[] {
  const component = `${cluster}-image`;
  return files.flatMap(({ host, volid, ctime }) => {
    const name = volid.slice(volid.indexOf("/") + 1);
    const schematic = /-([0-9a-f]{16})-(.+)\.qcow2$/.exec(name);
    if (!name.startsWith(imagePrefix(cluster)) || schematic?.[2] !== host) return [];
    const [, owner] = Object.entries(known).find(([id]) => id.startsWith(schematic[1] ?? "")) ?? [];
    if (owner !== component && owner?.startsWith(`${component}-`) !== true) return [];
    return [
      {
        type: "proxmoxve:download/file:File",
        component: "sluice:images:ProxmoxImages",
        // That of the installer's schematic is called after its host, any other after its node.
        part: owner === component ? host : owner.slice(component.length + 1),
        id: volid,
        importId: `${host}/${volid}`,
        title: `image ${volid} on ${host}`,
        created: ctime === undefined ? undefined : new Date(ctime * 1000).toISOString(),
        isRoot: false,
        isUsed: false,
        isOverwritten: true,
        within: [],
        removal: `pvesm free ${volid}, on ${host}`,
      },
    ];
  });
}
