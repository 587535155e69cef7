// The part of a dynamic resource that does its work, in the engine's process for dynamic providers. A resource is a list of operations, which get their
// environment as a context; this file turns them into the functions that the engine calls.
import { isDeepStrictEqual } from "node:util";
import { endWithEngine } from "./engineWatch.ts";
import type { Properties } from "./renamed.ts";
import { inEngine, type ResourceContext } from "./resourceContext.ts";
import { saidOnce } from "./saidOnce.ts";
import { isUnfinished, markOf, unfinishedUpdate, withoutMark } from "./unfinishedUpdate.ts";

endWithEngine();

/** The difference between the state and the inputs. */
export type Difference =
  /** No relevant difference. */
  | { readonly kind: "none" }
  /** Only the record in the state changes: it is rewritten, and nothing else happens. */
  | { readonly kind: "record" }
  /** The resource has to be updated. */
  | { readonly kind: "update" }
  /** The resource has to be replaced, because of these inputs. */
  | { readonly kind: "replace"; readonly keys: readonly string[] };

/** A text about a difference: shown in the resource's own row, or as a diagnostic that remains after the run. */
export interface Note {
  readonly text: string;
  readonly as: "row" | "info" | "warning";
}

export interface ResourceOperations<Inputs extends { readonly row: string }, State extends Inputs, Context> {
  /** The resource's id in the state. */
  id(inputs: Inputs): string;
  create(inputs: Inputs, context: Context): Promise<State>;
  /** Default: as `create`. */
  update?(olds: State, news: Inputs, context: Context): Promise<State>;
  /** Observes once, within a time limit, and does not throw if something is unhealthy; undefined if it no longer exists. Default: the state. */
  read?(state: State, context: Context): Promise<State | undefined>;
  /** Default: does nothing. */
  delete?(state: State, context: Context): Promise<void>;
  /** Must be pure, because previews call it too: no network, no clock. */
  difference(olds: State, news: Inputs): Difference;
  /** Why the change is refused, in previews and before anything is changed. Must be pure as well. */
  refusal?(olds: State, news: Inputs): Error | undefined;
  /** What the user should know about the difference. Must be pure as well. */
  notes?(olds: State, news: Inputs): readonly Note[];
  /**
   * What only an observation shows of an update, for previews where the cluster can be reached. Ends within seconds, throws nothing, and changes nothing: an `up`
   * calls it too, and checks everything again.
   */
  lookAhead?(olds: State, news: Inputs, context: Context): Promise<readonly Note[]>;
  /** Converts a state that an earlier version may have written. Called before every operation, also for a state of the current version. */
  migrate?(state: Properties): Properties;
  /** The text of its row when the work is done. */
  outcome?(state: State): string;
  /** Whether it ends by itself on an interruption, because it has more to report than its last progress text. */
  readonly endsWhenInterrupted?: true;
}

/** The functions that the engine calls; the provider's text in the state finds them by these names. */
export interface EngineCalls<Inputs, State> {
  create(inputs: Inputs): Promise<{ readonly id: string; readonly outs: State }>;
  read(id: string, state: State): Promise<{ readonly id?: string; readonly props?: State }>;
  diff(
    id: string,
    olds: State,
    news: Inputs,
  ): Promise<{ readonly changes: boolean; readonly replaces: readonly string[] }>;
  update(id: string, olds: State, news: Inputs): Promise<{ readonly outs: State }>;
  remove(id: string, state: State): Promise<void>;
}

/** `contextOf` adds to the engine's context what else the operations need. */
export function engineCalls<Inputs extends { readonly row: string }, State extends Inputs, Context>(
  operations: ResourceOperations<Inputs, State, Context>,
  contextOf: (context: ResourceContext) => Context,
): EngineCalls<Inputs, State> {
  const { outcome, endsWhenInterrupted } = operations;
  // Earlier versions had no row among the inputs.
  const migrated = (state: State) => {
    const plain = withoutMark(state);
    return { row: "", ...(operations.migrate?.(plain) ?? plain) } as State;
  };
  const during = <T>(row: string, work: (context: Context) => Promise<T>) =>
    inEngine(row, (context) => work(contextOf(context)), { endsWhenInterrupted });
  const doing = (row: string, work: (context: Context) => Promise<State>) =>
    inEngine(row, (context) => work(contextOf(context)), { isTraced: true, outcome, endsWhenInterrupted });
  return {
    async create(inputs) {
      return {
        id: operations.id(inputs),
        outs: await doing(inputs.row, (context) => operations.create(inputs, context)),
      };
    },

    async update(id, before, news) {
      const olds = migrated(before);
      const refused = operations.refusal?.(olds, news);
      if (refused !== undefined) throw refused;
      const { kind } = operations.difference(olds, news);
      const isOnlyRecorded = (kind === "none" || kind === "record") && !isUnfinished(before);
      if (isOnlyRecorded) return { outs: { ...olds, ...news } };
      const update = operations.update ?? ((_, inputs, context) => operations.create(inputs, context));
      try {
        return { outs: await doing(news.row, (context) => update(olds, news, context)) };
      } catch (error) {
        throw await unfinishedUpdate(error, news.row, id, before);
      }
    },

    async diff(_id, before, news) {
      const olds = migrated(before);
      const refused = operations.refusal?.(olds, news);
      if (refused !== undefined) throw saidOnce(refused);
      const difference = operations.difference(olds, news);
      const isOutdated = textOf(before) !== textOf(news) || !isDeepStrictEqual(withoutMark(before), olds);
      const isOnlyRewritten = difference.kind === "none" && isOutdated && !isUnfinished(before);
      const notes = [
        ...(isUnfinished(before) ? [repeated] : []),
        ...(isOnlyRewritten ? [rewritten] : (operations.notes?.(olds, news) ?? [])),
      ];
      await inEngine(news.row, async (context) => {
        for (const { text, as } of notes) await context.note(text, as);
        const { lookAhead } = operations;
        if (difference.kind !== "update" || lookAhead === undefined) return;
        for (const { text, as } of await lookAhead(olds, news, contextOf(context))) await context.note(text, as);
      });
      return {
        changes: difference.kind !== "none" || isOutdated || isUnfinished(before),
        replaces: difference.kind === "replace" ? difference.keys : [],
      };
    },

    async read(id, before) {
      const { read } = operations;
      const state = migrated(before);
      const props = read === undefined ? state : await during(state.row, (context) => read(state, context));
      if (props === undefined) return {};
      // Renamed properties alone are no drift: an update rewrites them.
      return { id, props: isDeepStrictEqual(props, state) ? before : { ...props, ...markOf(before) } };
    },

    async remove(_id, before) {
      const { delete: remove } = operations;
      const state = migrated(before);
      if (remove !== undefined) await during(state.row, (context) => remove(state, context));
    },
  };
}

/** Whatever the inputs are now: nobody knows how far the failed update came. */
const repeated: Note = { text: "its last update failed, so it is made again", as: "row" };

/** The state has another text of the provider, or property names of an earlier version. */
const rewritten: Note = { text: "only its record in the state is rewritten for this version", as: "row" };

/** A property in which the SDK keeps the provider. */
function textOf(properties: object): unknown {
  return (properties as { readonly __provider?: unknown }).__provider;
}
