// Settings of platform `existing`.
import { z } from "zod";
import type { Settings } from "./documentation.ts";
import { hostName } from "./scalars.ts";

export const existing = z
  .strictObject({
    resetOnDestroy: z.boolean().default(false).meta({
      description:
        "Wipe the nodes' configs and data when the cluster is destroyed, so that the machines boot into maintenance. With `false` nothing is done to them.",
    }),
  })
  .meta({ description: "Settings of platform `existing`." });

/** Keys of a node that only platform `existing` reads. */
export const existingNode = {
  reach: hostName.optional().meta({
    fallback: "`address`",
    description: "Host name or address by which the node is reached from here.",
  }),
} as const;

export type ExistingSettings = Settings<typeof existing>;
