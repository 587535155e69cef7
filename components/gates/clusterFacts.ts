import type * as pulumi from "@pulumi/pulumi";
import type { S3Credentials } from "../api/s3Api.ts";
import type { TargetPlace } from "../backup/openTarget.ts";
import type { VolumeProbe } from "../kubernetes/volumeProbe.ts";
import type { TalosCredentials } from "../talos/client/talosClient.ts";
import type { SecretTriggers } from "./gateDefinition.ts";
import type { ExpectedNode } from "./nodesJoined.ts";
import type { PreflightNode } from "./talos/machineFaults.ts";
import type { GateNode } from "./talos/nodeView.ts";

/** What gates know of their cluster. Stacks collect it; each gate picks what it needs. */
export interface ClusterFacts {
  readonly talosVersion: string;
  readonly nodeNames: readonly string[];
  /** Every node, as it is reached through the Talos API. */
  readonly talosNodes: pulumi.Input<readonly GateNode[]>;
  readonly controlPlanes: pulumi.Input<readonly GateNode[]>;
  /** Every node, with its install disk. */
  readonly nodesToInstall: pulumi.Input<readonly PreflightNode[]>;
  /** Every node, as it must appear in Kubernetes. */
  readonly expectedNodes: pulumi.Input<readonly ExpectedNode[]>;
  /** One value per node, which changes when the node gets another machine. */
  readonly machineIds: readonly pulumi.Input<string>[];
  /** The same, and hashes of the nodes' configs: they change when a node was replaced or rebooted for a config, because everything on it has started again. */
  readonly ground: readonly pulumi.Input<string>[];
  /** For the Talos API. */
  readonly talos: pulumi.Input<TalosCredentials>;
  readonly kubeconfig: pulumi.Input<string>;
  /** The server in the kubeconfig. */
  readonly server: pulumi.Input<string>;
  readonly cilium: CiliumFacts;
  /** The cloud's controller, if the environment has one. */
  readonly cloudController: CloudControllerFacts | undefined;
  readonly virtualAddress: VirtualAddressFacts | undefined;
  readonly volumes: VolumeFacts | undefined;
  readonly sealedSecrets: SealedSecretsFacts | undefined;
  readonly gitOps: GitOpsFacts | undefined;
  readonly backups: BackupFacts | undefined;
}

/** Parts that not every cluster has. A gate of such a part exists only together with the part. */
export type OptionalPart = "kubeVip" | "virtualAddress" | "volumes" | "sealedSecrets" | "gitOps" | "backups";

/** Hashes of what is installed into the cluster: when one changes, the gate behind it waits again. */
export interface Installed {
  readonly triggers: readonly pulumi.Input<string>[];
  readonly secretTriggers: SecretTriggers;
}

export interface CiliumFacts extends Pick<Installed, "triggers"> {
  /** Whether pods prove the datapath. */
  readonly probe: boolean;
}

export interface CloudControllerFacts extends Installed {
  /** The controller's Deployment. */
  readonly deployment: string;
  /** Labels that every node has once the controller has initialized it. */
  readonly labels: readonly string[];
}

export interface VirtualAddressFacts extends Pick<Installed, "triggers"> {
  readonly address: string;
  readonly port: number;
  /** What brings the address up on one of the control planes. */
  readonly by: "talos" | "kube-vip";
}

export interface VolumeFacts extends Installed {
  /** The driver's name: `csi.hetzner.cloud`. */
  readonly driver: string;
  readonly namespace: string;
  readonly controller: string;
  readonly nodePlugin: string;
  /** The test volume, if the environment wants one. */
  readonly probe: VolumeProbe | undefined;
}

export interface SealedSecretsFacts extends Pick<Installed, "triggers"> {
  readonly namespace: string;
  readonly controller: string;
  /** The certificate that secrets are sealed for, if the environment has one. */
  readonly certificate: string | undefined;
}

export interface GitOpsFacts extends Installed {
  readonly namespace: string;
  readonly controllers: readonly string[];
  /** Name of the source and of the root Kustomization. */
  readonly root: string;
  readonly url: string;
  readonly branch: string;
  readonly path: string;
  readonly revision: string | undefined;
}

export interface BackupFacts {
  readonly place: Omit<TargetPlace, "credentials">;
  readonly credentials: Partial<S3Credentials>;
  readonly clusterId: pulumi.Input<string>;
  readonly recipients: readonly string[];
  readonly maxAgeHours: number;
  readonly schedule: string | undefined;
  /** Of the CronJob. */
  readonly triggers: readonly pulumi.Input<string>[];
}
