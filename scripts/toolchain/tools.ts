// What is built from Go modules. Their versions are only in toolchain/<module>/go.mod.
import { engineTools } from "./engineTools.ts";
import { charts, labClients, labTools } from "./labTools.ts";
import type { Plugin, Program, Tool } from "./tool.ts";

const checkTools: readonly Program[] = [
  {
    name: "actionlint",
    purpose: "checks the GitHub workflows",
    module: "actionlint",
    package: "github.com/rhysd/actionlint/cmd/actionlint",
    versionOf: "github.com/rhysd/actionlint",
    commands: ["actionlint"],
    versionVariables: { "github.com/rhysd/actionlint.version": "1.2.3" },
    seconds: 10,
    gigabytes: 1,
  },
  {
    name: "staticcheck",
    purpose: "checks the lab's Go",
    module: "staticcheck",
    package: "honnef.co/go/tools/cmd/staticcheck",
    versionOf: "honnef.co/go/tools",
    commands: ["staticcheck"],
    seconds: 15,
    gigabytes: 1,
  },
  ...[
    { minor: "1.11", moduleFile: "v1.11.mod", seconds: 40 },
    { minor: "1.12", moduleFile: "v1.12.mod", seconds: 25 },
    { minor: "1.13", moduleFile: "v1.13.mod", seconds: 25 },
    { minor: "1.14", moduleFile: "go.mod", seconds: 25 },
  ].map(
    ({ minor, ...rest }): Program => ({
      name: `configcheck-${minor}`,
      purpose: `validates machine configs as Talos ${minor} does`,
      module: "configcheck",
      package: ".",
      versionOf: "github.com/siderolabs/talos/pkg/machinery",
      commands: [`configcheck-${minor}`],
      gigabytes: 1,
      ...rest,
    }),
  ),
];

export const programs: readonly Program[] = [...engineTools, ...checkTools, ...labTools, ...labClients];

/** The validators of machine configs, one for each Talos minor. */
export const configChecks: readonly Program[] = programs.filter(({ module }) => module === "configcheck");

/** The validator for nodes of a Talos version, which is one that Sluice supports. */
export function configCheckFor(talosVersion: string): Program {
  const [, minor] = /^v?(\d+\.\d+)/.exec(talosVersion) ?? [];
  return toolNamed(`configcheck-${minor}`);
}

/** The programs by which a lab validates the configs of nodes on these Talos minors. For 1.13 it does that itself. */
const validators: Readonly<Record<string, Program>> = {
  "1.12": toolNamed("configcheck-1.12"),
  "1.14": toolNamed("configcheck-1.14"),
};

/** Everything that a lab, or a program called in it, can need. */
export const labPrograms: readonly Program[] = [...labTools, ...Object.values(validators), ...labClients];

/** What a lab needs for nodes with these Talos versions; by default for any. */
export function labToolsFor(talosVersions?: readonly string[]): readonly Tool[] {
  const isUsed = (minor: string) => talosVersions?.some((version) => version.startsWith(`${minor}.`)) ?? true;
  const asked = Object.entries(validators).flatMap(([minor, validator]) => (isUsed(minor) ? [validator] : []));
  return [...labTools, ...asked, charts];
}

/** In build order. */
export const tools: readonly Tool[] = [...programs, charts];

export const plugins: readonly Plugin[] = [
  { name: "talos", npm: "@pulumiverse/talos", tool: "plugins" },
  { name: "hcloud", npm: "@pulumi/hcloud", tool: "plugins" },
  { name: "proxmoxve", npm: "@muhlba91/pulumi-proxmoxve", tool: "plugins" },
  { name: "kubernetes", npm: "@pulumi/kubernetes", tool: "kubernetes" },
  { name: "command", npm: "@pulumi/command", tool: "command" },
];

/** The CLI, if it is built. */
export const cliTools: readonly Program[] = ["pulumi", "language-host"].map(toolNamed);

/** The program with that name. */
export function toolNamed(name: string): Program {
  const tool = programs.find((candidate) => candidate.name === name);
  if (tool === undefined) throw new Error(`no tool is called ${name}`);
  return tool;
}

/** The plugin with that name. */
export function pluginNamed(name: string): Plugin {
  const plugin = plugins.find((candidate) => candidate.name === name);
  if (plugin === undefined) throw new Error(`no plugin is called ${name}`);
  return plugin;
}
