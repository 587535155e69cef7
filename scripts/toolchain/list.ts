// What `npm run toolchain -- --list` shows.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Entry, entryFolder, inspectEntry } from "./entry.ts";
import { moduleFolder, requiredVersion, toolVersion } from "./goModule.ts";
import { fittingCli, hasPlugin, ordinaryHome, pluginVersion, pulumiOnPath } from "./official.ts";
import { usesBuiltPlugins } from "./toolchain.ts";
import { plugins, tools } from "./tools.ts";

interface Row {
  readonly tool: string;
  readonly version: string;
  readonly from: string;
  readonly size: string;
}

/** Every tool and every plugin, a line each. */
export async function listTools(): Promise<string> {
  const rows: Row[] = [];
  const onPath = await pulumiOnPath();
  if (onPath !== undefined) {
    const from = onPath.fits ? "PATH" : `PATH, but it is not used: it must be ${fittingCli}`;
    rows.push({ tool: "pulumi", version: onPath.version, from, size: "" });
  }
  for (const tool of tools) {
    const found = await inspectEntry(entryFolder(tool));
    const good = found.state === "good" ? found.entry : undefined;
    const absent = found.state === "damaged" ? `damaged: ${found.what}` : "not built yet";
    rows.push({
      tool: tool.name,
      version: good?.version ?? toolVersion(tool),
      from: good === undefined ? absent : origin(good),
      size: good === undefined ? "" : megabytes(good.bytes),
    });
  }
  rows.push({ tool: "", version: "", from: "", size: "" });
  const built = await usesBuiltPlugins();
  for (const plugin of plugins) {
    const downloaded = !built && (await hasPlugin(ordinaryHome(), plugin));
    rows.push({
      tool: `plugin ${plugin.name}`,
      version: await pluginVersion(plugin),
      from: downloaded ? "downloaded by the engine" : `stood in for by ${plugin.tool}: ${await standIn(plugin.name)}`,
      size: "",
    });
  }
  return table(rows);
}

function origin({ isFileSet = false, go, seconds }: Entry): string {
  return isFileSet ? `files of modules, fetched in ${seconds} s` : `built with ${go} in ${seconds} s`;
}

/** What the plugin that is built really is: the engine only sees the version of the official one. */
async function standIn(plugin: string): Promise<string> {
  const version = async (module: string, path: string) =>
    requiredVersion(await readFile(join(moduleFolder({ module }), "go.mod"), "utf8"), path);
  switch (plugin) {
    case "talos":
      return `Terraform provider talos ${await version("pulumi", "github.com/siderolabs/terraform-provider-talos")} raised to Talos machinery ${await version("pulumi", "github.com/siderolabs/talos/pkg/machinery")}, installed under the official version`;
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

function table(rows: readonly Row[]): string {
  const head: Row = { tool: "TOOL", version: "VERSION", from: "WHERE FROM", size: "SIZE" };
  const width = (key: keyof Row) => Math.max(...[head, ...rows].map((row) => row[key].length));
  const [tool, version, size] = [width("tool"), width("version"), width("size")];
  return [head, ...rows]
    .map((row) =>
      `${row.tool.padEnd(tool)}  ${row.version.padEnd(version)}  ${row.size.padStart(size)}  ${row.from}`.trimEnd(),
    )
    .join("\n");
}

function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1e6)} MB`;
}
