// The operations of a HetznerSnapshot.
import { ApiError, isRetryableApiError } from "../api/apiError.ts";
import { type HetznerApi, hetznerApi } from "../api/hetznerApi.ts";
import { hetznerServers } from "../api/hetznerServers.ts";
import type { ResourceInputs } from "../engine/checkoutResource.ts";
import { renamed } from "../engine/renamed.ts";
import type { ResourceContext } from "../engine/resourceContext.ts";
import { engineCalls, type ResourceOperations } from "../engine/resourceProvider.ts";
import { SluiceError } from "../errors/sluiceError.ts";
import { retryApi } from "../waiting/retry.ts";
import type { HetznerSnapshotArgs } from "./hetznerSnapshot.ts";
import { newestSnapshot, type Snapshot, type SnapshotQuery, someSnapshots } from "./hetznerSnapshots.ts";
import { labelSelector } from "./snapshotLabels.ts";

export type LookupInputs = ResourceInputs<HetznerSnapshotArgs>;

export interface LookupState extends LookupInputs {
  readonly snapshotId: string;
  readonly description: string;
}

export interface LookupContext extends Pick<ResourceContext, "clock" | "random" | "note"> {
  readonly api: (token: string) => HetznerApi;
}

/** In the place of an id. A server cannot be created from it, and Hetzner's refusal quotes it. */
const none = "no-snapshot";

export const operations = {
  id: ({ labels }) => labelSelector(labels),

  async create(inputs, { api: apiWith, clock, random, note }) {
    const api = apiWith(inputs.token);
    const asked = await retryApi(() => search(api, inputs), {
      clock,
      random,
      deadlineSeconds: inputs.deadlineSeconds,
      retryable: isRetryableApiError,
    });
    if (!asked.ok) return refuse(asked.error);
    const { snapshot, isNeeded } = asked.value;
    if (snapshot !== undefined) return { ...inputs, ...found(snapshot) };
    if (!isNeeded) {
      await note(missing(inputs), "warning");
      return { ...inputs, snapshotId: none, description: "no snapshot yet" };
    }
    throw new SluiceError({
      code: "SLU-M101",
      what: `a snapshot with the labels ${labelSelector(inputs.labels)} on an image for ${inputs.architecture}`,
      seen: there(await someSnapshots(api).catch(() => undefined)),
      remedy: inputs.remedy,
    });
  },

  /** A newer snapshot is shown as drift. If the snapshot is gone, the next update searches again; existing servers do not need it. */
  async read(state, { api }) {
    const newest = await newestSnapshot(api(state.token), state).catch(refuse);
    if (newest === undefined) return isMissing(state) ? state : undefined;
    return { ...state, ...found(newest) };
  },

  migrate: (state) => renamed(state, { deadline: "deadlineSeconds" }),

  /** Other labels mean another resource; another token does not. The remedy is used only in an error. */
  difference(olds, news) {
    if (selector(olds) !== selector(news)) return { kind: "replace", keys: ["labels"] };
    if (olds.token !== news.token || isMissing(olds)) return { kind: "update" };
    return { kind: olds.remedy === news.remedy ? "none" : "record" };
  },

  notes: (olds, news) =>
    isMissing(olds) && selector(olds) === selector(news) ? [{ text: missing(news), as: "row" }] : [],
} satisfies ResourceOperations<LookupInputs, LookupState, LookupContext>;

export const { create, read, diff, update, remove } = engineCalls<LookupInputs, LookupState, LookupContext>(
  operations,
  (context) => ({
    ...context,
    api: hetznerApi,
  }),
);

interface SearchResult {
  readonly snapshot?: Snapshot | undefined;
  /** Whether a server does not exist yet, or will be recreated elsewhere. */
  readonly isNeeded: boolean;
}

async function search(api: HetznerApi, inputs: LookupInputs): Promise<SearchResult> {
  const snapshot = await newestSnapshot(api, inputs);
  if (snapshot !== undefined) return { snapshot, isNeeded: false };
  const locations = new Map((await hetznerServers(api)).map(({ name, location }) => [name, location]));
  const wanted = Object.entries(inputs.servers);
  const remains = ([name, location]: readonly [string, string]) =>
    locations.has(name) && (locations.get(name) ?? location) === location;
  return { isNeeded: !wanted.every(remains) };
}

function isMissing({ snapshotId }: Pick<LookupState, "snapshotId">): boolean {
  return snapshotId === none;
}

function missing({ labels, remedy }: LookupInputs): string {
  return `no snapshot has the labels ${labelSelector(labels)}. The existing servers do not need it, one that is added or recreated does. ${remedy}`;
}

function found({ id, description }: Snapshot): Pick<LookupState, "snapshotId" | "description"> {
  return { snapshotId: id, description };
}

function selector({ labels, architecture }: SnapshotQuery): string {
  return `${architecture} ${labelSelector(labels)}`;
}

function refuse(error: unknown): never {
  if (!(error instanceof ApiError)) throw error;
  throw new SluiceError({ code: "SLU-M102", what: "the Hetzner API to list snapshots", seen: error.message });
}

/** `undefined` if the API did not answer the question. */
function there(snapshots: readonly Snapshot[] | undefined): string {
  if (snapshots === undefined) return "no such snapshot in the project";
  if (snapshots.length === 0) return "no snapshot at all in the project";
  const named = snapshots.map(({ id, description, labels }) => `${id} '${description}' (${labelSelector(labels)})`);
  return `the newest snapshots in the project are ${named.join("; ")}`;
}
