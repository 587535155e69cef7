// Lists what a platform has of a cluster, in a separate process, because a lab's platform is reachable only from inside the lab. Reads a place and, if there
// is one, a token from its standard input, and prints JSON.
import { text as readAll } from "node:stream/consumers";
import { isRetryableApiError } from "../../components/api/apiError.ts";
import type { CreatedResourcesArgs } from "../../components/lifecycle/machinePlatform.ts";
import { platformAt } from "../../components/machines/currentMachines.ts";
import { systemClock } from "../../components/waiting/clock.ts";
import { retryApi } from "../../components/waiting/retry.ts";

/** Its input. */
export interface ListingCall extends Pick<CreatedResourcesArgs, "place" | "entries" | "known"> {
  /** The token in the environment's file. Secret. */
  readonly token?: string | undefined;
  /** Where else the token may be. */
  readonly variable: string;
}

/** Seconds for a call of the API. */
const callSeconds = 4;
/** Seconds that a run waits for answers: without them nothing is checked. One call may get none. */
const deadlineSeconds = 8;

const { token, variable, ...call }: ListingCall = JSON.parse(await readAll(process.stdin));
const used = token ?? process.env[variable];
if (used) {
  const report = (text: string) => console.error(`sluice: ${text}`);
  const list = async () =>
    platformAt(call.place).createdResources?.({
      ...call,
      token: used,
      deadlineSeconds: callSeconds,
      clock: systemClock,
      report,
    });
  // A single failure would hide what the run then finds in its way.
  const limits = { clock: systemClock, random: Math.random, deadlineSeconds, retryable: isRetryableApiError };
  const listed = await retryApi(list, limits);
  if (!listed.ok) throw listed.error;
  if (listed.value !== undefined) console.log(JSON.stringify(listed.value));
}
