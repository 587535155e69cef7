// Settings of machines that are already there.
import { z } from "zod";

export const existing = z.strictObject({
  /** Wipe the nodes' configs and data when the cluster is destroyed, so that the machines are in maintenance again. Default false: nothing is done to them. */
  resetOnDestroy: z.boolean().default(false),
});
