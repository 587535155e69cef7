// What the resource HetznerSnapshot does. The engine's provider process loads this file from the checkout, so the code that runs is always the current one.
import type { FailureDetails } from "../errors/failure.ts";
import { failureMessage } from "../errors/failureMessage.ts";
import { type Clock, systemClock } from "../gates/clock.ts";
import { type HetznerApi, HetznerApiError, hetznerApi } from "../machines/hetznerApi.ts";
import { askPatiently } from "../talos/retry.ts";
import { newestSnapshot, type Snapshot, type SnapshotQuery, someSnapshots } from "./hetznerSnapshots.ts";
import { labelSelector } from "./snapshotLabels.ts";

export interface LookupInputs extends SnapshotQuery {
  /** Of the Hetzner project. Secret. */
  readonly token: string;
  /** What to type where there is none. */
  readonly remedy: string;
  /** Seconds in which it must be found. */
  readonly deadline: number;
}

export interface LookupOutputs extends LookupInputs {
  readonly snapshotId: string;
  readonly description: string;
}

/** How the API is asked: with patience when something is to be made, once when a refresh looks at what is. */
export interface Asking {
  readonly api: (token: string) => HetznerApi;
  readonly clock: Clock;
  readonly chance: () => number;
}

export async function create(inputs: LookupInputs, asking: Asking = real) {
  return { id: labelSelector(inputs.labels), outs: await lookUp(inputs, asking) };
}

export async function update(_id: string, _before: LookupOutputs, inputs: LookupInputs, asking: Asking = real) {
  return { outs: await lookUp(inputs, asking) };
}

/** A newer one is shown as drift. One that is gone is gone: the next update looks again, and servers that are there do not mind. */
export async function read(id: string, before: LookupOutputs, asking: Asking = real) {
  const found = await newestSnapshot(asking.api(before.token), before).catch(refuse);
  return found === undefined ? {} : { id, props: outputs(before, found) };
}

/** Offline. Another image is another resource; another token is not. */
export async function diff(_id: string, before: LookupOutputs, inputs: LookupInputs) {
  const asksForAnother = selector(before) !== selector(inputs);
  const isOtherwiseChanged = before.token !== inputs.token || before.remedy !== inputs.remedy;
  return { changes: asksForAnother || isOtherwiseChanged, replaces: asksForAnother ? ["labels"] : [] };
}

async function lookUp(inputs: LookupInputs, { api: apiWith, clock, chance }: Asking): Promise<LookupOutputs> {
  const api = apiWith(inputs.token);
  const asked = await askPatiently(() => newestSnapshot(api, inputs), {
    ...{ clock, chance, deadline: inputs.deadline },
    passes: (error) => error instanceof HetznerApiError && error.mayPass,
  });
  if (!asked.ok) return refuse(asked.error);
  if (asked.value !== undefined) return outputs(inputs, asked.value);
  throw failure({
    code: "SLU-M101",
    what: `a snapshot with the labels ${labelSelector(inputs.labels)} on an image for ${inputs.architecture}`,
    seen: there(await someSnapshots(api).catch(() => undefined)),
    remedy: inputs.remedy,
  });
}

function outputs(inputs: LookupInputs, { id, description }: Snapshot): LookupOutputs {
  const { labels, architecture, token, remedy, deadline } = inputs;
  return { labels, architecture, token, remedy, deadline, snapshotId: id, description };
}

function selector({ labels, architecture }: SnapshotQuery): string {
  return `${architecture} ${labelSelector(labels)}`;
}

function refuse(error: unknown): never {
  if (!(error instanceof HetznerApiError)) throw error;
  throw failure({ code: "SLU-M102", what: "the Hetzner API to list snapshots", seen: error.message });
}

/** `undefined` when the API would not say. */
function there(snapshots: readonly Snapshot[] | undefined): string {
  if (snapshots === undefined) return "no such snapshot in the project";
  if (snapshots.length === 0) return "no snapshot at all in the project";
  const named = snapshots.map(({ id, description, labels }) => `${id} '${description}' (${labelSelector(labels)})`);
  return `the newest snapshots in the project are ${named.join("; ")}`;
}

function failure(details: FailureDetails): Error {
  return new Error(failureMessage(details));
}

const real: Asking = { api: hetznerApi, clock: systemClock, chance: Math.random };
