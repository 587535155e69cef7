// The gates of the chain: what each of them is told, and what it is waited at again for.
import * as pulumi from "@pulumi/pulumi";
import { Gate, type GateArgs } from "../components/gates/gate.ts";
import type { GateName } from "../components/gates/registry.ts";
import { sandboxImage } from "../components/kubernetes/sandboxImage.ts";
import type { Machine } from "../components/machines/machine.ts";
import { fluxChart, fluxRoot } from "../components/platform/flux.ts";
import { cloudControllerManagerChart } from "../components/platform/hcloudCloudControllerManager.ts";
import { sealedSecretsChart, sealedSecretsController } from "../components/platform/sealedSecrets.ts";
import type { TalosCredentials } from "../components/talos/client/talosClient.ts";
import { diskChoice } from "../components/talos/installDisk.ts";
import type { MakeGate, PlatformGate } from "./platform.ts";
import { hasCloudControllerManager } from "./platformParts.ts";
import type { ClusterConfig } from "./schema.ts";
import { volumeDriver } from "./volumeDrivers.ts";

/** How a gate is called in the graph, behind the cluster's name; and how long it waits: a key of `timeouts`. */
const gateKinds = {
  Preflight: { part: "preflight", timeout: "preflight", flaps: false },
  Stages: { part: "stages", timeout: "stages", flaps: false },
  Etcd: { part: "etcd", timeout: "etcd", flaps: true },
  TalosServices: { part: "talos-services", timeout: "services", flaps: true },
  VirtualAddress: { part: "virtual-address", timeout: "vip", flaps: true },
  KubernetesApi: { part: "kubernetes-api", timeout: "api", flaps: true },
  NodesJoined: { part: "nodes-joined", timeout: "joined", flaps: false },
  CiliumReady: { part: "cilium-ready", timeout: "cilium", flaps: true },
  NodesReady: { part: "nodes-ready", timeout: "nodes", flaps: true },
  CsiReady: { part: "csi-ready", timeout: "csi", flaps: true },
  SealedSecretsReady: { part: "sealed-secrets-ready", timeout: "sealedSecrets", flaps: true },
  GitOpsReady: { part: "gitops-ready", timeout: "gitops", flaps: true },
} as const satisfies Record<GateName, { part: string; timeout: keyof ClusterConfig["timeouts"]; flaps: boolean }>;

/** A gate of the chain. `after` is what it is behind, and the triggers stand for what it guards. */
type Make = (after: readonly pulumi.Resource[], triggers?: readonly pulumi.Input<string>[]) => pulumi.Resource;

interface Making {
  readonly part?: string;
  readonly keepSecrets?: boolean | undefined;
}

/** What a gate that opened saw, and how many seconds it took. */
export interface GateReport {
  readonly evidence: pulumi.Output<Record<string, unknown>>;
  readonly waited: pulumi.Output<number>;
}

/** Makes the gates of one cluster, and knows those that it made. */
export class ClusterGates {
  /** By their names, in the order of the chain. */
  readonly reports: Record<string, GateReport> = {};
  private readonly config: ClusterConfig;
  private readonly machines: readonly Machine[];

  constructor(config: ClusterConfig, machines: readonly Machine[]) {
    this.config = config;
    this.machines = machines;
  }

  /** Those that ask Talos on the nodes. */
  onTalos(credentials: pulumi.Output<TalosCredentials>) {
    const nodes = this.talosNodes();
    const talos =
      (gate: "Stages" | "Etcd" | "TalosServices"): Make =>
      (after, triggers = []) =>
        this.make(gate, { inputs: { nodes }, credentials, after, triggers });
    const preflight: Make = (after, triggers = []) => {
      const inputs = { nodes: this.nodesToInstall(nodes), talosVersion: this.config.talosVersion };
      return this.make("Preflight", { inputs, credentials, after, triggers });
    };
    return { preflight, stages: talos("Stages"), etcd: talos("Etcd"), services: talos("TalosServices") };
  }

  /** The one that asks whoever has the address that the control planes share, and each of them whether it has it. */
  onVirtualAddress(address: string, talos: pulumi.Output<TalosCredentials>, kubeconfig: pulumi.Output<string>): Make {
    const credentials = pulumi
      .all([talos, kubeconfig])
      .apply(([first, second]) => ({ talos: first, kubeconfig: second }));
    const nodes = this.talosNodes().apply((all) => all.filter(({ role }) => role === "controlplane"));
    const inputs = { address, port: 6443, by: this.config.network.vipBy, nodes };
    return (after, triggers = []) => this.make("VirtualAddress", { inputs, credentials, after, triggers });
  }

  /** Those that ask Kubernetes; `ground` stands for the machines and the configs that they run. */
  onKubernetes(kubeconfig: pulumi.Output<string>, ground: readonly pulumi.Input<string>[]) {
    const credentials = pulumi.output({ kubeconfig });
    const names = this.machines.map(({ name }) => name);
    const apiAt =
      (part: string): Make =>
      (after, triggers = []) =>
        this.make("KubernetesApi", { inputs: { answers: 3 }, credentials, after, triggers }, { part });
    const [firstApi, api] = [apiAt("first-kubernetes-api"), apiAt("kubernetes-api")];
    const joined: Make = (after, triggers = []) =>
      this.make("NodesJoined", { inputs: { nodes: this.expectedNodes() }, credentials, after, triggers });
    const platform: MakeGate = (gate, after, { triggers, secrets = [], keepSecrets }) => {
      const inputs = platformInputs(this.config, names)[gate]();
      // A node that was replaced, or rebooted for a config, has all its pods begun anew.
      const guard = { triggers: [...triggers, ...ground], secretTriggers: secrets };
      return this.make(gate, { inputs, credentials, after, ...guard }, { keepSecrets });
    };
    return { firstApi, api, joined, platform };
  }

  private make<Name extends GateName>(
    gate: Name,
    { after, ...args }: Omit<GateArgs<Name>, "settings"> & { readonly after: readonly pulumi.Resource[] },
    { part = gateKinds[gate].part, keepSecrets = false }: Making = {},
  ): pulumi.Resource {
    const { timeout, flaps } = gateKinds[gate];
    const settings = { deadline: this.config.timeouts[timeout], stable: flaps ? this.config.stableSeconds : 0 };
    const made = new Gate(
      gate,
      `${this.config.clusterName}-${part}`,
      { ...args, settings },
      // A preview may be made without the account: a stand-in for a secret is no other secret.
      { dependsOn: [...after], ignoreChanges: keepSecrets ? ["secretTriggers"] : [] },
    );
    if (part === gateKinds[gate].part) this.reports[gate] = { evidence: made.evidence, waited: made.waited };
    return made;
  }

  private talosNodes() {
    return pulumi.all(
      this.machines.map(({ name, role, address, reach, identity }) =>
        pulumi.all([reach, identity]).apply(([endpoint, known]) => ({ name, role, address, endpoint, ...known })),
      ),
    );
  }

  private nodesToInstall(nodes: ReturnType<ClusterGates["talosNodes"]>) {
    const { nodes: named, install } = this.config;
    const own = new Map(named.map((node) => [node.name, node.install]));
    return nodes.apply((all) =>
      all.map((node) => {
        const { disk, diskSelector } = diskChoice(install, own.get(node.name));
        return { ...node, install: { disk, diskSelector } };
      }),
    );
  }

  private expectedNodes() {
    return pulumi.all(
      this.machines.map(({ name, identity, providerId }) =>
        pulumi.all([identity, providerId]).apply(([{ uuid }, id]) => ({
          name,
          ...(uuid !== undefined && { uuid }),
          ...(id !== undefined && { providerId: id }),
        })),
      ),
    );
  }
}

function platformInputs(config: ClusterConfig, nodes: readonly string[]): PlatformInputs {
  const hasController = hasCloudControllerManager(config);
  const { sealedSecretsCertificate: certificate } = config;
  const { url = "", branch, path, revision } = config.flux;
  return {
    CiliumReady: () => ({ nodes }),
    NodesReady: () => ({
      nodes,
      ...(hasController && { controller: cloudControllerManagerChart.release }),
      // The label by which the driver for volumes tells servers of the cloud from others.
      labels: hasController ? ["instance.hetzner.cloud/provided-by"] : [],
    }),
    CsiReady: () => csiInputs(config, nodes),
    SealedSecretsReady: () => ({
      namespace: sealedSecretsChart.namespace,
      controller: sealedSecretsController,
      ...(certificate !== undefined && { certificate }),
    }),
    GitOpsReady: () => ({
      namespace: fluxChart.namespace,
      controllers: ["source-controller", "kustomize-controller", "helm-controller", "notification-controller"],
      source: fluxRoot.name,
      root: fluxRoot.name,
      ...{ url, branch, path, ...(revision !== undefined && { revision }) },
    }),
  };
}

type PlatformInputs = { readonly [Gate in PlatformGate]: () => GateArgs<Gate>["inputs"] };

function csiInputs(config: ClusterConfig, nodes: readonly string[]): GateArgs<"CsiReady">["inputs"] {
  const known = volumeDriver(config);
  if (known === undefined) throw new Error(`platform '${config.platform}' has no driver for volumes`); // then there is no such gate
  const { driver, controller, nodePlugin, chart, probe } = known;
  return {
    driver,
    namespace: chart.namespace,
    controller,
    nodePlugin,
    nodes,
    // Nothing has to be fetched for it.
    ...(config.csi.probe && { probe: { ...probe, image: sandboxImage(config.talosVersion) } }),
  };
}
