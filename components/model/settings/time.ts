// How long steps of a run may take, and how machine configs are sent.
import { z } from "zod";
import { standardRetry } from "../../waiting/retry.ts";
import type { Settings } from "./documentation.ts";
import { duration } from "./durations.ts";

/** A key of `timeouts`. */
export const timeout = (seconds: number, description: string) =>
  duration("seconds", 1).default(seconds).meta({ description });

/** Steps that are no gates, in the order of the chain. Each key bounds one step. Gates define their own keys. */
export const stepTimeouts = {
  images: timeout(
    45,
    "Hetzner: the snapshot is found. Proxmox, and existing machines with extensions: the Image Factory knows the schematics.",
  ),
  quorum: timeout(
    60,
    "etcd is known to keep its quorum without the one control plane that is about to be turned off, recreated or upgraded.",
  ),
  lease: timeout(300, "Proxmox with `network.addressing: dhcp`: the VMs have their addresses from the DHCP server."),
  configure: timeout(300, "One node has received its machine config and runs it, including a reboot if one is needed."),
  bootstrap: timeout(300, "etcd runs on the first control plane."),
  drain: timeout(300, "The pods of a node that is being removed have left it."),
  leave: timeout(
    300,
    "Each other step in which a removed node leaves the cluster: its etcd member, its reset, its Node object.",
  ),
  kubeconfig: timeout(60, "Talos has issued the kubeconfig."),
  pull: timeout(
    600,
    "Every node has pulled the installer of another Talos, or the images of another Kubernetes, before the first of them is changed.",
  ),
  upgrade: timeout(1200, "One node runs another Talos, from its installation on, and is ready again."),
  kubernetes: timeout(300, "The components of another Kubernetes version run on one node, and are healthy."),
  storage: timeout(600, "Volumes are attached again after the upgrade of a node, and have all their replicas."),
  reset: timeout(
    300,
    "Existing machines with `existing.resetOnDestroy`: all are in maintenance again when the cluster is destroyed.",
  ),
} as const;

export const stableSeconds = duration("seconds", 0).default(5).meta({
  description: "Seconds for which all conditions of a gate must hold without interruption: its stability window.",
});

export const strict = z.boolean().default(false).meta({
  description:
    "Whether the next stage starts only after the stability window of the gate before it. Otherwise it starts once the gate's conditions are met, and the next gate waits for the window ([gates](gates.md#stability-windows)).",
});

export const stallSeconds = duration("seconds", 0).default(60).meta({
  description:
    "Seconds for which a failure that seldom goes away by waiting (a container or a service that fails again and again, a learner that etcd does not promote) must persist before its gate fails early. 0: only at the gate's timeout.",
});

const parallelForm = "must be a number from 1 on, or a share such as '25%'";

export const parallel = (description: string) =>
  z
    .union([z.int(parallelForm).min(1, parallelForm), z.string().regex(/^([1-9]\d?|100)%$/, parallelForm)], {
      error: parallelForm,
    })
    .default(1)
    .meta({ form: "number of nodes, or a share such as `25%`", description });

export const apply = z
  .strictObject({
    firstDelay: duration("seconds", 0.1, z.number()).default(standardRetry.firstDelaySeconds).meta({
      description: "Delay before a machine config that could not be sent is sent again for the first time.",
    }),
    factor: z.number().min(1, "must be 1 or more").default(standardRetry.factor).meta({
      description: "How many times longer each further delay is than the one before.",
    }),
    maxDelay: duration("seconds", 0.1, z.number()).default(standardRetry.maxDelaySeconds).meta({
      description: "The longest delay.",
    }),
    retries: z.int().min(0).default(standardRetry.retries).meta({
      description: "How many times a machine config is sent again before the run fails.",
    }),
    parallel: parallel(
      "How many nodes are configured at the same time. Control planes that are members of etcd always go one at a time.",
    ),
  })
  .meta({ description: "How often, after which delays and to how many nodes at once machine configs are sent." });

export type ApplySettings = Settings<typeof apply>;

export const clientCertificateDays = duration("days", 1)
  .max(28, "must be 28 days at most: the Talos provider makes another in its last month")
  .default(28)
  .meta({
    description:
      "How long before its expiry the client certificate in the talosconfig or kubeconfig counts as drift; the next `up` renews it.",
  });
