// The outputs of a stack.
import * as pulumi from "@pulumi/pulumi";
import { installerSchematic } from "../components/images/nodeSchematic.ts";
import { schematicId } from "../components/images/schematic.ts";
import { fluxRoot } from "../components/platform/flux.ts";
import type { TalosCredentials } from "../components/talos/client/talosClient.ts";
import { daysLeft } from "../components/talos/credentials/certificateLife.ts";
import type { GateReport } from "./gateChain.ts";
import type { MachineConfigs } from "./machineConfigs.ts";
import type { PlatformMachines } from "./platforms/platformResources.ts";
import type { ClusterConfig } from "./schema/clusterConfig.ts";

export interface ClusterOutputs {
  /** Where clients reach the Kubernetes API. */
  readonly endpoint: pulumi.Output<string>;
  /** The Image Factory schematic that nodes are installed from. */
  readonly schematicId: string;
  readonly nodes: Readonly<Record<string, NodeOutput>>;
  /** For `talosctl`. Secret. */
  readonly talosconfig: pulumi.Output<string>;
  /** Days until the certificate in `talosconfig` expires. */
  readonly clientCertificateDaysLeft: pulumi.Output<number>;
  /** For `kubectl`. Secret. */
  readonly kubeconfig: pulumi.Output<string>;
  /** The evidence of each gate, and the seconds that it waited. */
  readonly gates: Readonly<Record<string, GateReport>>;
  /** The commit that Flux has applied, if Flux is installed. */
  readonly gitOpsRevision?: pulumi.Output<string> | undefined;
}

export interface NodeOutput {
  readonly role: string;
  /** In the node network. */
  readonly address: string;
  /** The address by which it is reached from this host, once it has a machine. */
  readonly reach?: pulumi.Output<string>;
}

export interface OutputArgs {
  readonly platform: PlatformMachines;
  readonly configs: MachineConfigs;
  /** For the Talos API. */
  readonly credentials: pulumi.Output<TalosCredentials>;
  /** Where clients reach the Kubernetes API. */
  readonly server: pulumi.Output<string>;
  readonly kubeconfig: pulumi.Output<string>;
  readonly reports: Readonly<Record<string, GateReport>>;
}

export function clusterOutputs(config: ClusterConfig, args: OutputArgs): ClusterOutputs {
  const { platform, configs, credentials, server, kubeconfig, reports } = args;
  const reach = new Map(platform.machines.map((machine) => [machine.name, machine.talosAddress]));
  const nodes = config.nodes.map(({ name, role, address }): [string, NodeOutput] => {
    const at = reach.get(name);
    return [name, { role, address, ...(at !== undefined && { reach: at }) }];
  });
  return {
    endpoint: server,
    schematicId: schematicId(installerSchematic(config)),
    nodes: Object.fromEntries(nodes),
    talosconfig: configs.talosconfig,
    clientCertificateDaysLeft: pulumi.unsecret(credentials.apply(({ crt }) => daysLeft(crt, Date.now()))),
    kubeconfig,
    gates: reports,
    gitOpsRevision: gitOpsRevision(reports),
  };
}

/** The commit in the evidence of the last gate. */
function gitOpsRevision({ GitOpsReady: gate }: OutputArgs["reports"]) {
  return gate?.evidence.apply(({ revisions }) => (revisions as Record<string, string>)[fluxRoot.name] ?? "");
}
