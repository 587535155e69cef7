// An update that fails. The engine records nothing of it: if the inputs then return to those in the state, it finds no difference, although the update may have
// taken effect. So the state gets a mark, with which the next run updates the resource whatever its inputs are. docs/decisions/failed-updates.md
import { engineRow } from "./progress.ts";

const mark = "isUnfinished";

/** Whether the last update of the resource with these properties failed. */
export function isUnfinished(properties: object): boolean {
  return (properties as { readonly [mark]?: unknown })[mark] === true;
}

/** The mark alone, if there is one. */
export function markOf(properties: object): object {
  return isUnfinished(properties) ? markUnfinished({}) : {};
}

export function withoutMark<State extends object>(properties: State): State {
  const { [mark]: _, ...rest } = properties as State & { readonly [mark]?: unknown };
  return rest as State;
}

/** Properties in a state, with the mark. */
export function markUnfinished<State extends object>(properties: State): State {
  return { ...properties, [mark]: true };
}

const records = new WeakMap<Error, object>();

/** Adds to an error of an update what the state should say from now on: the update has changed that, although it failed. */
export function withRecord<E extends Error>(error: E, record: object): E {
  records.set(error, record);
  return error;
}

/** What the engine adds below the error itself; `npm run up` treats it as a consequence. */
export const unfinishedReason = "the update is incomplete: the next `up` makes it again";

/**
 * Reports the error in the resource's row, and returns that with which the engine records the former state and the mark. The engine prints the reasons of such
 * an error as a list with a heading of its own, so the error itself is reported before.
 */
export async function unfinishedUpdate(error: unknown, urn: string, id: string, olds: object): Promise<Error> {
  const message = error instanceof Error ? error.message : String(error);
  const record = error instanceof Error ? records.get(error) : undefined;
  const row = engineRow(urn);
  const isReported = await row.fail(message).finally(() => row.close());
  return Object.assign(new Error(message), {
    id,
    properties: markUnfinished({ ...olds, ...record }),
    reasons: isReported ? [unfinishedReason] : [message, unfinishedReason],
  });
}
