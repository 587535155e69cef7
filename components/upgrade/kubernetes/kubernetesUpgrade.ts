import * as pulumi from "@pulumi/pulumi";
import type { BackupPolicy } from "../../backup/backupFirst.ts";
import { CheckoutResource, type CheckoutType } from "../../engine/checkoutResource.ts";
import type { Machine } from "../../model/machine.ts";
import { pick } from "../../model/pick.ts";
import type { TalosCredentials } from "../../talos/client/talosClient.ts";
import { type KubernetesImages, kubernetesImages } from "../../talos/config/kubernetesImages.ts";
import type { Parallel } from "../../talos/nodes/lanes.ts";
import type { UpgradeLimits } from "./clusterAccess.ts";

export interface KubernetesUpgradeArgs {
  /** All nodes of the cluster. */
  readonly machines: readonly Pick<Machine, "name" | "role" | "address" | "talosAddress" | "identity">[];
  /** The version that every node should run: "1.35.4". */
  readonly version: string;
  /** The machine config that each will have, by node name: it has the images of that version. */
  readonly machineConfigurations: Readonly<Record<string, pulumi.Input<string>>>;
  /** Kept as a secret. */
  readonly credentials: pulumi.Input<TalosCredentials>;
  /** A backup is taken before the first node is changed; none without this. Kept as a secret. */
  readonly backup?: pulumi.Input<BackupPolicy>;
  /** How many workers at once, after the first one. */
  readonly parallel: Parallel;
  /** Names of APIs that may be removed although they were asked for, as kubectl has them: "servicecidrs.v1beta1.networking.k8s.io". */
  readonly acceptRemovedApis: readonly string[];
  readonly limits: UpgradeLimits;
}

const type: CheckoutType = {
  url: import.meta.url,
  module: "talos",
  name: "KubernetesUpgrade",
  secrets: ["credentials", "backup"],
  outputs: ["seconds"],
};

/**
 * The version of Kubernetes that every node runs. If another one is asked for, the components of a running cluster get it one after the other, before the nodes
 * get their machine configs; nodes that have no config yet get it with that. Destroying this does nothing.
 */
export class KubernetesUpgrade extends CheckoutResource {
  constructor(
    name: string,
    { machines, machineConfigurations, ...args }: KubernetesUpgradeArgs,
    opts?: pulumi.CustomResourceOptions,
  ) {
    // By name, and not as one output each: the name is known even before the machine exists.
    const nodes = Object.fromEntries(
      machines.map((machine) => [
        machine.name,
        {
          ...pick(machine, "name", "role", "address", "talosAddress", "identity"),
          images: imagesIn(machineConfigurations[machine.name]),
        },
      ]),
    );
    super(type, name, { ...args, nodes }, opts);
  }
}

/** Not a secret, although the config is one. */
function imagesIn(config: pulumi.Input<string> | undefined): pulumi.Output<KubernetesImages> {
  return pulumi.unsecret(pulumi.output(config).apply((text) => kubernetesImages(text ?? "")));
}
