// The Pulumi CLI and its plugins, and what has to be done to their modules first.
import type { ModulePreparation, Program } from "./tool.ts";

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
        module: "github.com/pulumi/pulumi-kubernetes/provider/v4",
        folder: "pulumi-kubernetes-provider",
        edits: [
          // With the Kubernetes libraries of the other modules, so that they compile once, comes the library's next
          // major version; what is used of it is the same.
          {
            file: "pkg/await/await.go",
            find: /structured-merge-diff\/v4\/fieldpath/.source,
            times: 1,
            replace: "structured-merge-diff/v6/fieldpath",
          },
        ],
      },
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
  cluster: {
    patched: [
      {
        module: "github.com/fluxcd/kustomize-controller",
        folder: "kustomize-controller",
        edits: [
          // How often it asks whether what it has applied is healthy, of which Flux makes no setting. In the lab, where an app comes up within a
          // second, twice that is most of the time that a cluster takes to be reconciled.
          {
            file: "internal/controller/kustomization_controller.go",
            find: /(?<=WaitOptions\{\n\t\tInterval: {4})5 \* time\.Second/.source,
            times: 1,
            replace: "time.Second",
          },
        ],
      },
    ],
  },
  command: {
    patched: [
      {
        module: "github.com/pulumi/pulumi-go-provider",
        folder: "pulumi-go-provider",
        edits: [
          // What takes the last free place is appended instead, and stays when it has ended: a Cancel after the second call
          // of anything panics. Later releases are mended (pulumi/pulumi-go-provider#207); this plugin does not compile
          // with them.
          {
            file: "middleware/cancel/cancel.go",
            find: /if len\(h\.tombstones\) == 0 \{(?=\n\t\th\.values = append)/.source,
            times: 1,
            replace: "if i == len(h.values) {",
          },
        ],
      },
    ],
  },
};

/** In the order they are built: what shares most with the next comes first. */
export const engineTools: readonly Program[] = [
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
    seconds: 530,
    gigabytes: 4,
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
    seconds: 160,
    gigabytes: 2,
  },
  {
    name: "kubernetes",
    purpose: "the plugin kubernetes",
    module: "kubernetes",
    package: ".",
    versionOf: "github.com/pulumi/pulumi-kubernetes/sdk/v4",
    commands: ["pulumi-resource-kubernetes"],
    versionVariables: { "main.version": "1.2.3" },
    seconds: 90,
    gigabytes: 2,
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
];
