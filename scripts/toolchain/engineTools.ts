// The Pulumi CLI and its plugins, and the edits to their modules before they are built.
import type { ModulePreparation, Program } from "./tool.ts";

export const preparations: Readonly<Record<string, ModulePreparation>> = {
  pulumi: {
    patched: [
      {
        module: "github.com/siderolabs/terraform-provider-talos",
        folder: "terraform-provider-talos",
        edits: [
          // Machinery 1.13 removed the option, which had no effect. Later releases of the provider do not use it either, but the module proxy does not have
          // them.
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
          // The Kubernetes libraries of the other modules, compiled once for all, use this library's next major version; the parts that are used are the
          // same.
          {
            file: "pkg/await/await.go",
            find: /structured-merge-diff\/v4\/fieldpath/.source,
            times: 1,
            replace: "structured-merge-diff/v6/fieldpath",
          },
          // In the CLI's SDK, which is then compiled only once, the field is a pointer.
          {
            file: "pkg/gen/schema.go",
            find: /(?<=^\t\tProvider: )pschema\.ResourceSpec\{$/.source,
            times: 1,
            replace: "&pschema.ResourceSpec{",
          },
        ],
      },
      {
        module: "github.com/pulumi/pulumi-kubernetes/sdk/v4",
        folder: "pulumi-kubernetes-sdk",
        // The plugin registers each object of a manifest as a typed resource of the Go SDK, but reads none of the typed outputs. If they are registered like
        // custom resources, with the same type token, the engine sees no difference, and 50 packages need not be compiled: half the plugin's build time and
        // size.
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
          // The interval of Flux' health checks of what it has applied, which is not configurable. In the lab an app starts within a second, and two such
          // waits would be most of the time of a reconciliation.
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
  flux: {
    patched: [
      {
        module: "github.com/fluxcd/flux2/v2",
        folder: "flux2",
        edits: [
          // The manifests of `flux install`, which Flux generates for its releases: the module does not have them, and nothing here uses them.
          {
            file: "cmd/flux/manifests.embed.go",
            find: /^\/\/go:embed manifests\/\*\.yaml\n/.source,
            times: 1,
            replace: "",
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
          // A call that takes the last free slot is appended instead, and stays there after it has ended: a Cancel after the second call panics. Later
          // releases have the fix (pulumi/pulumi-go-provider#207), but this plugin does not compile with them.
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

/** In build order: first the one that needs the fewest modules, because those of the others are downloaded while it compiles. */
export const engineTools: readonly Program[] = [
  {
    name: "language-host",
    purpose: "runs the program on Node",
    module: "nodejs",
    package: "github.com/pulumi/pulumi/sdk/nodejs/cmd/pulumi-language-nodejs/v3",
    versionOf: "github.com/pulumi/pulumi/sdk/v3",
    commands: ["pulumi-language-nodejs"],
    seconds: 46,
    gigabytes: 1,
  },
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
    seconds: 101,
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
    seconds: 31,
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
    seconds: 14,
    gigabytes: 2,
  },
  {
    name: "command",
    purpose: "the plugin command",
    module: "command",
    package: "github.com/pulumi/pulumi-command/provider/cmd/pulumi-resource-command",
    versionOf: "npm:@pulumi/command",
    commands: ["pulumi-resource-command"],
    versionVariables: { "github.com/pulumi/pulumi-command/provider/pkg/version.Version": "1.2.3" },
    seconds: 8,
    gigabytes: 1,
  },
];
