// The operations of a HetznerSnapshot.
import { ApiError, isRetryableApiError } from "../api/apiError.ts";
import { type HetznerApi, hetznerApi } from "../api/hetznerApi.ts";
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

export interface LookupContext extends Pick<ResourceContext, "clock" | "random"> {
  readonly api: (token: string) => HetznerApi;
}

export const operations = {
  id: ({ labels }) => labelSelector(labels),

  async create(inputs, { api: apiWith, clock, random }) {
    const api = apiWith(inputs.token);
    const asked = await retryApi(() => newestSnapshot(api, inputs), {
      clock,
      random,
      deadlineSeconds: inputs.deadlineSeconds,
      retryable: isRetryableApiError,
    });
    if (!asked.ok) return refuse(asked.error);
    if (asked.value !== undefined) return { ...inputs, ...found(asked.value) };
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
    return newest === undefined ? undefined : { ...state, ...found(newest) };
  },

  migrate: (state) => renamed(state, { deadline: "deadlineSeconds" }),

  /** Other labels mean another resource; another token does not. The remedy is used only in an error. */
  difference(olds, news) {
    if (selector(olds) !== selector(news)) return { kind: "replace", keys: ["labels"] };
    if (olds.token !== news.token) return { kind: "update" };
    return { kind: olds.remedy === news.remedy ? "none" : "record" };
  },
} satisfies ResourceOperations<LookupInputs, LookupState, LookupContext>;

export const { create, read, diff, update, remove } = engineCalls<LookupInputs, LookupState, LookupContext>(
  operations,
  (context) => ({
    ...context,
    api: hetznerApi,
  }),
);

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
