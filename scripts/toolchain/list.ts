// The table of `npm run toolchain -- --list`.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Column, table } from "../base/table.ts";
import { type Entry, entryFolder, inspectEntry } from "./entry.ts";
import { moduleFolder, requiredVersion, toolVersion } from "./goModule.ts";
import { fittingCli, hasPlugin, ordinaryHome, pluginVersion, pulumiOnPath } from "./official.ts";
import { usesBuiltPlugins } from "./toolchain.ts";
import { plugins, tools } from "./tools.ts";

const columns: readonly Column[] = [
  { title: "TOOL" },
  { title: "VERSION" },
  { title: "SIZE", align: "right" },
  { title: "WHERE FROM" },
];

/** Every tool and every plugin, a line each. */
export async function listTools(): Promise<string> {
  const rows: string[][] = [];
  const onPath = await pulumiOnPath();
  if (onPath !== undefined) {
    const from = onPath.fits ? "PATH" : `PATH, but not used: must be ${fittingCli}`;
    rows.push(["pulumi", onPath.version, "", from]);
  }
  for (const tool of tools) {
    const found = await inspectEntry(entryFolder(tool));
    const good = found.state === "good" ? found.entry : undefined;
    const absent = found.state === "damaged" ? `damaged: ${found.what}` : "not built yet";
    const [size, from] = good === undefined ? ["", absent] : [megabytes(good.bytes), origin(good)];
    rows.push([tool.name, good?.version ?? toolVersion(tool), size, from]);
  }
  rows.push([]);
  const built = await usesBuiltPlugins();
  for (const plugin of plugins) {
    const downloaded = !built && (await hasPlugin(ordinaryHome(), plugin));
    const from = downloaded
      ? "downloaded by the engine"
      : `replaced by ${plugin.tool}: ${await replacement(plugin.name)}`;
    rows.push([`plugin ${plugin.name}`, await pluginVersion(plugin), "", from]);
  }
  return table(columns, rows, "").join("\n");
}

function origin({ isFileSet = false, go, seconds }: Entry): string {
  return isFileSet ? `files of modules, fetched in ${seconds} s` : `built with ${go} in ${seconds} s`;
}

/** The actual source of the built plugin: the engine only sees the version of the official one. */
async function replacement(plugin: string): Promise<string> {
  const version = async (module: string, path: string) =>
    requiredVersion(await readFile(join(moduleFolder({ module }), "go.mod"), "utf8"), path);
  switch (plugin) {
    case "talos":
      return `Terraform provider talos ${await version("pulumi", "github.com/siderolabs/terraform-provider-talos")} with Talos machinery ${await version("pulumi", "github.com/siderolabs/talos/pkg/machinery")}, installed under the official version`;
    case "hcloud":
      return `Terraform provider hcloud ${await version("pulumi", "github.com/hetznercloud/terraform-provider-hcloud")}`;
    case "proxmoxve":
      return `Terraform provider proxmox ${await version("pulumi", "github.com/bpg/terraform-provider-proxmox")}`;
    case "kubernetes":
      return "the official plugin's own source, without the typed Go SDK";
    default:
      return "the official plugin's own source";
  }
}

function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1e6)} MB`;
}
