// Before a run: cleans up after an earlier one that was killed or lost an answer.
import type { Stack } from "../stack/stack.ts";
import type { Toolchain } from "../toolchain/toolchain.ts";
import { settleKilledRun } from "./settleKilledRun.ts";
import { type SettledCommand, settleOrphans } from "./settleOrphans.ts";

/** Running processes first: a plugin may be about to create something. */
export async function settleEarlierRun(toolchain: Toolchain, stack: Stack, command: SettledCommand): Promise<void> {
  await settleKilledRun(stack);
  await settleOrphans(toolchain, stack, command);
}
