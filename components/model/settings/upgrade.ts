// How the nodes of a running cluster get another Talos or Kubernetes.
import { z } from "zod";
import type { Settings } from "./documentation.ts";
import { duration } from "./durations.ts";
import { parallel } from "./time.ts";

export const upgrade = z
  .strictObject({
    parallel: parallel(
      "How many workers are upgraded at the same time, after the first one. Control planes always go one at a time.",
    ),
    drain: z.boolean().default(true).meta({
      description:
        "Evict the pods of a node before it goes down. PodDisruptionBudgets are respected. The only node of a cluster is never drained.",
    }),
    drainSeconds: duration("seconds", 1).default(300).meta({
      description: "Seconds for the pods to leave a node. If some are still there then, the upgrade stops.",
    }),
    volumes: z.boolean().default(true).meta({
      description:
        "Wait before and after each node until all volumes are attached, and until those of Longhorn and Rook have all their replicas.",
    }),
    acceptRemovedApis: z
      .array(
        z
          .string()
          .regex(
            /^[a-z0-9-]+(\.v[0-9a-z]+)(\.[a-z0-9.-]+)?$/,
            "must be a resource with its version and group, such as servicecidrs.v1beta1.networking.k8s.io",
          ),
      )
      .default([])
      .meta({
        form: "list of resources with version and group",
        description:
          "APIs that an upgrade of Kubernetes may remove although somebody has asked for them since the API servers started.",
        example: ["servicecidrs.v1beta1.networking.k8s.io"],
      }),
  })
  .meta({
    description:
      "How running nodes get another Talos, by `talosVersion` or `image`, or another Kubernetes ([upgrades](upgrades.md)).",
  });

export type UpgradeSettings = Settings<typeof upgrade>;
