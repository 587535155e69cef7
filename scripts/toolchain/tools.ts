// What is built from Go modules, from which package, and how. Versions stand in toolchain/<module>/go.mod alone.

/** A change to a file of a Go module before it is compiled. */
export interface Edit {
  readonly file: string;
  /** A regular expression, in multi-line mode. */
  readonly find: string;
  /** How often it must match: a module that has changed is noticed. */
  readonly times: number;
  readonly replace: string;
}

/** What a folder below toolchain/ needs before `go build`. */
export interface ModulePreparation {
  /** Modules that go.mod replaces by `./patched/<folder>`: copied from the module cache and edited. */
  readonly patched?: readonly { readonly module: string; readonly folder: string; readonly edits: readonly Edit[] }[];
  /** Files that a main package embeds, copied out of a module. */
  readonly copied?: readonly {
    readonly module: string;
    readonly from: string;
    readonly files: readonly string[];
    readonly to: string;
  }[];
}

export interface Tool {
  readonly name: string;
  /** What it is for, in a few words. */
  readonly purpose: string;
  /** Folder below toolchain/. */
  readonly module: string;
  /** The main package. */
  readonly package: string;
  /** The Go module whose version is the tool's; `npm:<package>` where the module has none but that of a commit. */
  readonly versionOf: string;
  /** Names that it is started by; the first is the file, the others are links to it. */
  readonly commands: readonly [string, ...string[]];
  /** Variables to set to the tool's version, with or without the leading v. */
  readonly versionVariables?: Readonly<Record<string, "v1.2.3" | "1.2.3" | "1" | "2">>;
  /** Scripts that lie in a module and belong beside the program. */
  readonly scripts?: { readonly module: string; readonly files: readonly string[] };
  /** Seconds on two idle cores with empty caches, in the order of this list: what a person is told to expect. */
  readonly seconds: number;
  /** GiB that its module and build caches take, in the order of this list. */
  readonly gigabytes: number;
}

/** A resource plugin: what the engine asks for, and the tool that can stand in for it. */
export interface Plugin {
  readonly name: string;
  /** The npm package whose version the engine asks for. */
  readonly npm: string;
  readonly tool: string;
}

export const preparations: Readonly<Record<string, ModulePreparation>> = {
  pulumi: {
    patched: [
      {
        module: "github.com/siderolabs/terraform-provider-talos",
        folder: "terraform-provider-talos",
        edits: [
          // Machinery 1.13 dropped the option, which had been without effect. Later releases of the provider dropped
          // it too, but cannot be had from the module proxy.
          { file: "pkg/talos/util.go", find: /^\t\tgenerate\.WithPersist\(true\),\n/.source, times: 1, replace: "" },
        ],
      },
    ],
  },
  kubernetes: {
    patched: [
      {
        module: "github.com/pulumi/pulumi-kubernetes/sdk/v4",
        folder: "pulumi-kubernetes-sdk",
        // The plugin registers each object of a manifest as a typed resource of the Go SDK, and reads none of the
        // typed outputs. Registered as what it uses for custom resources, with the same type token, they are the same
        // to the engine, and 50 packages need not be compiled: half the plugin's build time and size.
        edits: [
          {
            file: "go/kubernetes/yaml/v2/kinds.go",
            find: /var res \w+\.\w+$/.source,
            times: 168,
            replace: "var res apiextensions.CustomResource",
          },
          {
            file: "go/kubernetes/yaml/v2/kinds.go",
            find: /^\t\w+ "github\.com\/pulumi\/pulumi-kubernetes\/sdk\/v4\/go\/kubernetes\/[\w/]+"\n/.source,
            times: 63,
            replace: "",
          },
        ],
      },
    ],
    copied: [
      {
        module: "github.com/pulumi/pulumi-kubernetes/provider/v4",
        from: "cmd/pulumi-resource-kubernetes",
        files: ["schema.json", "terraform-mapping.json"],
        to: "embedded",
      },
    ],
  },
};

/** In the order they are built: what shares most with the next comes first. */
export const tools: readonly Tool[] = [
  {
    name: "pulumi",
    purpose: "the Pulumi CLI and engine",
    module: "pulumi",
    package: "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi",
    versionOf: "github.com/pulumi/pulumi/pkg/v3",
    commands: ["pulumi"],
    versionVariables: { "github.com/pulumi/pulumi/sdk/v3/go/common/version.Version": "v1.2.3" },
    scripts: {
      module: "github.com/pulumi/pulumi/sdk/v3",
      files: ["nodejs/dist/pulumi-resource-pulumi-nodejs"],
    },
    seconds: 300,
    gigabytes: 5,
  },
  {
    name: "plugins",
    purpose: "the plugins talos, hcloud and proxmoxve",
    module: "pulumi",
    package: "./plugins",
    versionOf: "github.com/pulumi/pulumi-terraform-bridge/v3",
    commands: [
      "sluice-plugins",
      "pulumi-resource-talos",
      "pulumi-resource-hcloud",
      "pulumi-resource-proxmoxve",
      "talos-sdk",
    ],
    seconds: 150,
    gigabytes: 3,
  },
  {
    name: "kubernetes",
    purpose: "the plugin kubernetes",
    module: "kubernetes",
    package: ".",
    versionOf: "github.com/pulumi/pulumi-kubernetes/sdk/v4",
    commands: ["pulumi-resource-kubernetes"],
    versionVariables: { "main.version": "1.2.3" },
    seconds: 400,
    gigabytes: 4,
  },
  {
    name: "language-host",
    purpose: "runs the program on Node",
    module: "nodejs",
    package: "github.com/pulumi/pulumi/sdk/nodejs/cmd/pulumi-language-nodejs/v3",
    versionOf: "github.com/pulumi/pulumi/sdk/v3",
    commands: ["pulumi-language-nodejs"],
    seconds: 40,
    gigabytes: 1,
  },
  {
    name: "command",
    purpose: "the plugin command",
    module: "command",
    package: "github.com/pulumi/pulumi-command/provider/cmd/pulumi-resource-command",
    versionOf: "npm:@pulumi/command",
    commands: ["pulumi-resource-command"],
    versionVariables: { "github.com/pulumi/pulumi-command/provider/pkg/version.Version": "1.2.3" },
    seconds: 40,
    gigabytes: 1,
  },
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
    name: "controlplane",
    purpose: "the lab's etcd, Kubernetes control plane, kwok and kubectl",
    module: "cluster",
    package: "./cmd/controlplane",
    versionOf: "k8s.io/kubernetes",
    commands: [
      "controlplane",
      "etcd",
      "kube-apiserver",
      "kube-controller-manager",
      "kube-scheduler",
      "kwok",
      "kubectl",
    ],
    versionVariables: {
      "k8s.io/component-base/version.gitVersion": "v1.2.3",
      "k8s.io/component-base/version.gitMajor": "1",
      "k8s.io/component-base/version.gitMinor": "2",
      "k8s.io/client-go/pkg/version.gitVersion": "v1.2.3",
      "k8s.io/client-go/pkg/version.gitMajor": "1",
      "k8s.io/client-go/pkg/version.gitMinor": "2",
    },
    seconds: 240,
    gigabytes: 5,
  },
  {
    name: "source-controller",
    purpose: "Flux in the lab",
    module: "cluster",
    package: "github.com/fluxcd/source-controller",
    versionOf: "github.com/fluxcd/source-controller",
    commands: ["source-controller"],
    seconds: 60,
    gigabytes: 3,
  },
  {
    name: "kustomize-controller",
    purpose: "Flux in the lab",
    module: "cluster",
    package: "github.com/fluxcd/kustomize-controller",
    versionOf: "github.com/fluxcd/kustomize-controller",
    commands: ["kustomize-controller"],
    seconds: 30,
    gigabytes: 1,
  },
  {
    name: "helm-controller",
    purpose: "Flux in the lab",
    module: "cluster",
    package: "github.com/fluxcd/helm-controller",
    versionOf: "github.com/fluxcd/helm-controller",
    commands: ["helm-controller"],
    seconds: 30,
    gigabytes: 1,
  },
  {
    name: "helm",
    purpose: "installs charts in the lab by hand",
    module: "cluster",
    package: "helm.sh/helm/v4/cmd/helm",
    versionOf: "helm.sh/helm/v4",
    commands: ["helm"],
    versionVariables: { "helm.sh/helm/v4/internal/version.version": "v1.2.3" },
    seconds: 20,
    gigabytes: 1,
  },
  {
    name: "sealed-secrets",
    purpose: "the lab's sealed-secrets controller",
    module: "cluster",
    package: "github.com/bitnami-labs/sealed-secrets/cmd/controller",
    versionOf: "github.com/bitnami-labs/sealed-secrets",
    commands: ["sealed-secrets-controller"],
    versionVariables: { "main.VERSION": "1.2.3" },
    seconds: 10,
    gigabytes: 1,
  },
  {
    name: "kubeseal",
    purpose: "seals secrets for the lab",
    module: "cluster",
    package: "github.com/bitnami-labs/sealed-secrets/cmd/kubeseal",
    versionOf: "github.com/bitnami-labs/sealed-secrets",
    commands: ["kubeseal"],
    versionVariables: { "main.VERSION": "1.2.3" },
    seconds: 10,
    gigabytes: 1,
  },
  {
    name: "talosctl",
    purpose: "Talos' own client, which the lab must satisfy",
    module: "talosctl",
    package: "github.com/siderolabs/talos/cmd/talosctl",
    versionOf: "github.com/siderolabs/talos",
    commands: ["talosctl"],
    seconds: 60,
    gigabytes: 2,
  },
  {
    name: "csi-provisioner",
    purpose: "binds volumes in the lab",
    module: "csi-provisioner",
    package: "github.com/kubernetes-csi/external-provisioner/v5/cmd/csi-provisioner",
    versionOf: "github.com/kubernetes-csi/external-provisioner/v5",
    commands: ["csi-provisioner"],
    versionVariables: { "main.version": "v1.2.3" },
    seconds: 60,
    gigabytes: 2,
  },
];

export const plugins: readonly Plugin[] = [
  { name: "talos", npm: "@pulumiverse/talos", tool: "plugins" },
  { name: "hcloud", npm: "@pulumi/hcloud", tool: "plugins" },
  { name: "proxmoxve", npm: "@muhlba91/pulumi-proxmoxve", tool: "plugins" },
  { name: "kubernetes", npm: "@pulumi/kubernetes", tool: "kubernetes" },
  { name: "command", npm: "@pulumi/command", tool: "command" },
];

/** What makes up the CLI where it is built. */
export const cliTools: readonly Tool[] = ["pulumi", "language-host"].map(toolNamed);

/** The tool of that name. */
export function toolNamed(name: string): Tool {
  const tool = tools.find((candidate) => candidate.name === name);
  if (tool === undefined) throw new Error(`no tool is called ${name}`);
  return tool;
}

/** The plugin of that name. */
export function pluginNamed(name: string): Plugin {
  const plugin = plugins.find((candidate) => candidate.name === name);
  if (plugin === undefined) throw new Error(`no plugin is called ${name}`);
  return plugin;
}
