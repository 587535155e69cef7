// A cluster that others have made, with their own tools: talosctl for the nodes, Helm for what runs in it. Sluice has no part in it.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";

/** Where programs run: in a lab. */
export interface Inside {
  readonly said: (name: string, ...args: readonly string[]) => Promise<string>;
}

export interface ForeignNode {
  readonly name: string;
  readonly role: "controlplane" | "worker";
  /** By which talosctl reaches it. */
  readonly address: string;
  /** More patches of its machine config. */
  readonly patches?: readonly object[];
}

export interface ForeignOptions {
  readonly nodes: readonly ForeignNode[];
  readonly name: string;
  /** An empty folder for the files that its owner has. */
  readonly folder: string;
  /** By which nodes and clients reach the API, without scheme and port. */
  readonly endpoint: string;
  readonly installer: string;
  /** Patches of all machine configs, and of control planes. */
  readonly patches?: readonly object[];
  readonly controlPlanePatches?: readonly object[];
}

export class ForeignCluster {
  private readonly inside: Inside;
  private readonly options: ForeignOptions;

  constructor(inside: Inside, options: ForeignOptions) {
    this.inside = inside;
    this.options = options;
    mkdirSync(options.folder, { recursive: true });
  }

  get secrets(): string {
    return join(this.options.folder, "secrets.yaml");
  }

  get kubeconfig(): string {
    return join(this.options.folder, "kubeconfig");
  }

  get first(): ForeignNode {
    const [first] = this.options.nodes;
    if (first === undefined) throw new Error("the cluster has no node");
    return first;
  }

  /** Configs by `talosctl gen`, sent by `talosctl apply-config`, and one `talosctl bootstrap`. The nodes are in maintenance. */
  async create(): Promise<void> {
    const { nodes, endpoint, installer, patches = [], controlPlanePatches = [] } = this.options;
    await this.inside.said("talosctl", "gen", "secrets", "--output-file", this.secrets);
    for (const { name, role, address, patches: own = [] } of nodes) {
      const file = join(this.options.folder, `${name}.yaml`);
      const all = [...patches, ...(role === "controlplane" ? controlPlanePatches : []), ...own];
      const files = all.map((patch, place) => this.write(`${name}-${place}.patch.yaml`, stringify(patch)));
      await this.inside.said(
        ...["talosctl", "gen", "config", this.options.name, `https://${endpoint}:6443`, "--with-secrets", this.secrets],
        ...[
          "--talos-version",
          "v1.13",
          "--kubernetes-version",
          "1.36.4",
          "--install-image",
          installer,
          "--install-disk",
          "/dev/sda",
        ],
        ...["--with-docs=false", "--with-examples=false", "--output-types", role, "--output", file, "--force"],
        ...files.flatMap((patch) => ["--config-patch", `@${patch}`]),
      );
      await this.inside.said("talosctl", "apply-config", "--insecure", "--nodes", address, "--file", file);
    }
    await this.inside.said(
      ...["talosctl", "gen", "config", this.options.name, `https://${endpoint}:6443`, "--with-secrets", this.secrets],
      ...["--output-types", "talosconfig", "--output", this.talosconfig, "--force"],
    );
  }

  /** Once etcd waits for it. */
  async bootstrap(): Promise<void> {
    await this.talosctl("bootstrap");
  }

  talosctl(...args: readonly string[]): Promise<string> {
    const { address } = this.first;
    return this.inside.said(
      "talosctl",
      "--talosconfig",
      this.talosconfig,
      "--endpoints",
      address,
      "--nodes",
      address,
      ...args,
    );
  }

  async fetchKubeconfig(): Promise<void> {
    await this.talosctl("kubeconfig", "--force", "--merge=false", this.kubeconfig);
  }

  kubectl(...args: readonly string[]): Promise<string> {
    return this.inside.said("kubectl", "--kubeconfig", this.kubeconfig, ...args);
  }

  /** A release by Helm's own client. */
  async helm(name: string, chart: string, namespace: string, values: object): Promise<void> {
    const file = this.write(`${name}.values.yaml`, stringify(values));
    await this.inside.said(
      ...[
        "helm",
        "--kubeconfig",
        this.kubeconfig,
        "install",
        name,
        chart,
        "--namespace",
        namespace,
        "--create-namespace",
      ],
      ...["--values", file],
    );
  }

  /** What its owner has in a file. */
  read(name: string): string {
    return readFileSync(join(this.options.folder, name), "utf8");
  }

  private get talosconfig(): string {
    return join(this.options.folder, "talosconfig");
  }

  private write(name: string, text: string): string {
    const file = join(this.options.folder, name);
    writeFileSync(file, text);
    return file;
  }
}
