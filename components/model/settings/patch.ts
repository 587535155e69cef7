import { z } from "zod";
import type { Settings } from "./documentation.ts";
import { dnsLabel, role } from "./scalars.ts";

/** A user's own patch. */
export const patch = z.strictObject({
  name: dnsLabel.meta({ description: "What the patch is for; errors and previews show it.", example: "sysctls" }),
  when: z.string().optional().meta({
    form: "name of a switch",
    fallback: "always",
    description: "Write the patch only if this switch is on.",
    example: "logShipping",
  }),
  role: role.optional().meta({ fallback: "nodes of both roles", description: "Only nodes of this role." }),
  nodes: z.array(z.string()).min(1).optional().meta({
    form: "list of node names",
    fallback: "every node",
    description: "Only these nodes.",
  }),
  patch: z
    .record(z.string(), z.unknown(), {
      error: "must be a map: a merge patch, as JSON patches (op, path, value) are not taken",
    })
    .meta({
      form: "map",
      description:
        "A part of a machine config, which is merged into it, or a config document with its `kind`, which is added.",
      example: { machine: { sysctls: { "vm.swappiness": "10" } } },
    }),
});

export type PatchSettings = Settings<typeof patch>;
