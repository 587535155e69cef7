// How the nodes of a running cluster get another Talos.
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
  })
  .meta({
    description: "How running nodes get another Talos, by `talosVersion` or `image` ([upgrades](upgrades.md)).",
  });

export type UpgradeSettings = Settings<typeof upgrade>;
