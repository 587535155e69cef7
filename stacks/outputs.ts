// What a stack tells of its cluster.
import * as pulumi from "@pulumi/pulumi";
import { installerSchematic } from "../components/images/nodeSchematic.ts";
import { schematicId } from "../components/images/schematic.ts";
import { controlPlaneEndpoint } from "../components/network/endpoint.ts";
import { fluxRoot } from "../components/platform/flux.ts";
import { daysLeft } from "../components/talos/certificateLife.ts";
import type { TalosCredentials } from "../components/talos/client/talosClient.ts";
import type { GateReport } from "./gates.ts";
import type { MachineConfigs } from "./machineConfigs.ts";
import type { PlatformMachines } from "./machines.ts";
import type { ClusterConfig } from "./schema.ts";

export interface ClusterOutputs {
  /** Where clients find the Kubernetes API. */
  readonly endpoint: pulumi.Input<string>;
  /** The Image Factory schematic that nodes are installed from. */
  readonly schematicId: string;
  readonly nodes: Readonly<Record<string, NodeOutput>>;
  /** For `talosctl`. Secret. */
  readonly talosconfig: pulumi.Output<string>;
  /** Days that the certificate in `talosconfig` is still good for. */
  readonly clientCertificateDaysLeft: pulumi.Output<number>;
  /** Each node's machine config. Secret. */
  readonly machineConfigurations: Readonly<Record<string, pulumi.Output<string>>>;
  /** For `kubectl`. Secret. */
  readonly kubeconfig?: pulumi.Output<string>;
  /** What each gate saw when it opened, and how many seconds it took. */
  readonly gates?: Readonly<Record<string, GateReport>>;
  /** The commit that Flux has applied, where there is Flux. */
  readonly gitOpsRevision?: pulumi.Output<string> | undefined;
}

export interface NodeOutput {
  readonly role: string;
  /** In the node network. */
  readonly address: string;
  /** Where it is reached from here, where there is a machine. */
  readonly reach?: pulumi.Output<string>;
}

/** All that is known without a cluster. */
export function machineOutputs(
  config: ClusterConfig,
  { machines }: PlatformMachines,
  { talosconfig, machineConfigurations }: MachineConfigs,
  credentials: pulumi.Output<TalosCredentials>,
): ClusterOutputs {
  const reach = new Map(machines.map((machine) => [machine.name, machine.reach]));
  const nodes = config.nodes.map(({ name, role, address }): [string, NodeOutput] => {
    const at = reach.get(name);
    return [name, { role, address, ...(at !== undefined && { reach: at }) }];
  });
  return {
    endpoint: `https://${controlPlaneEndpoint(config)}:6443`,
    schematicId: schematicId(installerSchematic(config)),
    nodes: Object.fromEntries(nodes),
    talosconfig,
    clientCertificateDaysLeft: pulumi.unsecret(credentials.apply(({ crt }) => daysLeft(crt, Date.now()))),
    machineConfigurations,
  };
}

/** What the last gate saw applied. */
export function gitOpsRevision({ GitOpsReady: gate }: Readonly<Record<string, GateReport>>) {
  return gate?.evidence.apply(({ revisions }) => (revisions as Record<string, string>)[fluxRoot.name] ?? "");
}
