// The tools that a test's checkout builds: those that the code knows by name, and one for each property that a tool can have.
import { charts } from "../../../scripts/toolchain/labTools.ts";
import type { ModulePreparation, Program } from "../../../scripts/toolchain/tool.ts";

const common = { purpose: "a fixture", seconds: 60, gigabytes: 0.01 };

export const fixtureTools: readonly Program[] = [
  {
    ...common,
    name: "pulumi",
    module: "pulumi",
    package: "./cli",
    versionOf: "example.invalid/cli",
    commands: ["pulumi"],
    versionVariables: { "main.full": "v1.2.3", "main.plain": "1.2.3", "main.major": "1", "main.minor": "2" },
    scripts: { module: "example.invalid/sdk", files: ["dist/wrapper"] },
  },
  {
    ...common,
    name: "plugins",
    module: "pulumi",
    package: "./plugins",
    versionOf: "example.invalid/bridge",
    commands: ["all-plugins", "pulumi-resource-talos", "pulumi-resource-hcloud", "pulumi-resource-proxmoxve"],
  },
  {
    ...common,
    name: "kubernetes",
    module: "kubernetes",
    package: ".",
    versionOf: "example.invalid/kubernetes",
    commands: ["pulumi-resource-kubernetes"],
  },
  {
    ...common,
    name: "language-host",
    module: "nodejs",
    moduleFile: "v3.mod",
    package: "example.invalid/host",
    versionOf: "example.invalid/host",
    commands: ["pulumi-language-nodejs"],
  },
  {
    ...common,
    name: "command",
    module: "command",
    package: "example.invalid/command",
    versionOf: "npm:@pulumi/command",
    commands: ["pulumi-resource-command"],
    versionVariables: { "main.version": "1.2.3" },
  },
];

export const fixturePreparations: Readonly<Record<string, ModulePreparation>> = {
  kubernetes: {
    patched: [
      {
        module: "example.invalid/sdk",
        folder: "sdk",
        edits: [{ file: "pkg/a.go", find: "^old$", times: 2, replace: "new" }],
      },
    ],
    copied: [{ module: "example.invalid/kubernetes", from: "schemas", files: ["schema.json"], to: "embedded" }],
  },
};

const requires = (...modules: readonly string[]) =>
  `module fixture.invalid\n\ngo 1.26.0\n\nrequire (\n${modules.map((module) => `\t${module}\n`).join("")})\n`;

/** Below toolchain/. */
export const fixtureModules: Readonly<Record<string, string>> = {
  "pulumi/go.mod": requires(
    "example.invalid/cli v3.9.1",
    "example.invalid/sdk v3.9.0",
    "example.invalid/bridge v3.5.0",
    // What `--list` says the plugins really are.
    "github.com/siderolabs/terraform-provider-talos v0.10.1",
    "github.com/siderolabs/talos/pkg/machinery v1.13.8",
    "github.com/hetznercloud/terraform-provider-hcloud v1.68.0",
    "github.com/bpg/terraform-provider-proxmox v0.111.1",
  ),
  "pulumi/go.sum": "",
  "kubernetes/go.mod": requires("example.invalid/kubernetes v4.2.0", "example.invalid/sdk v3.9.0"),
  "kubernetes/go.sum": "",
  "nodejs/v3.mod": requires("example.invalid/host v3.1.0"),
  "nodejs/v3.sum": "",
  "command/go.mod": requires("example.invalid/command v0.0.0-20240101000000-000000000000"),
  "command/go.sum": "",
};

/** Below lab/. */
export const fixtureLab: Readonly<Record<string, string>> = {
  "go.mod": requires("github.com/siderolabs/talos v1.13.8"),
  "go.sum": "",
  "cmd/sluice-lab/main.go":
    "package main\n\n//go:embed chart *.yaml\nvar a embed.FS\n\nvar (\n\t//go:embed all:sample/.hidden\n\tb embed.FS\n)\n",
  "cmd/sluice-lab/chart/templates/a.tpl": "a",
  "cmd/sluice-lab/values.yaml": "b: 1",
  "cmd/sluice-lab/sample/.hidden/kept": "c",
  "cmd/sluice-lab/sample/notes.yaml": "embedded by nobody",
};

/** In the module cache. */
export const fixtureSources: Readonly<Record<string, string>> = {
  "example.invalid/sdk/dist/wrapper": "#!/bin/sh",
  "example.invalid/sdk/pkg/a.go": "old\nnot old\nold",
  "example.invalid/kubernetes/schemas/schema.json": "{}",
  ...Object.fromEntries(charts.copied.map(({ module, from }) => [`${module}/${from}/chart.yaml`, from])),
  "github.com/cilium/cilium/install/kubernetes/cilium/templates/agent/daemonset.yaml": "deep",
  "github.com/controlplaneio-fluxcd/flux-operator/config/data/other.yaml": "not asked for",
};

/** The npm packages of the plugins. */
export const fixturePlugins: Readonly<Record<string, { version: string; pulumi?: { server: string } }>> = {
  "@pulumiverse/talos": { version: "0.8.1", pulumi: { server: "github://api.github.com/pulumiverse" } },
  "@pulumi/hcloud": { version: "1.41.0" },
  "@muhlba91/pulumi-proxmoxve": { version: "8.6.0" },
  "@pulumi/kubernetes": { version: "4.27.0" },
  "@pulumi/command": { version: "0.9.2" },
};
