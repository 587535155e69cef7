import type { FailureCode } from "../errors/catalogue.ts";
import type { Clock } from "./clock.ts";

/** What one condition says of one observation. */
export type Verdict =
  | { readonly kind: "ok" }
  /** May pass with time. */
  | {
      readonly kind: "pending";
      readonly where?: string;
      readonly reason: string;
      /** It is not known how it is: nobody could look yet. */
      readonly unseen?: true;
      /** What it is when time is up. Default: as the gate says of itself. */
      readonly code?: FailureCode;
    }
  /** Cannot pass by waiting: the wait ends at once. */
  | {
      readonly kind: "failed";
      readonly where?: string;
      readonly reason: string;
      readonly code: FailureCode;
      readonly remedy?: string;
    };

/** One thing that must be so, as a phrase: "every node to be Ready". */
export interface Condition<Observation> {
  readonly phrase: string;
  /** Pure. All that is not ok, one verdict for each node or object; none is ok. */
  evaluate(observation: Observation): readonly Verdict[];
}

/** What every gate is given, besides its own inputs. */
export interface GateSettings {
  /** Seconds until the gate gives up. */
  readonly deadline: number;
  /** Seconds that all conditions must hold without a break. */
  readonly stable: number;
  /** Seconds until what was seen not to hold is taken for so. Default: as long as the deadline. */
  readonly patience?: number;
}

/** A gate: what is looked at, and what must be so. What opens the cluster stands in its inputs under `credentials`, and nowhere else. */
export interface GateDefinition<Inputs, Observation> {
  /** As in the graph: "NodesReady". */
  readonly name: string;
  /** What a gate that gives up is in the catalogue. */
  readonly timeoutCode: FailureCode;
  /** The conditions in the order in which they can come true. */
  conditions(inputs: Inputs): readonly Condition<Observation>[];
  /**
   * Watches: an observation at once and whenever something changes, until the signal. What cannot be reached is
   * part of the observation, not an error; an error is one that no waiting mends.
   */
  observe(inputs: Inputs, signal: AbortSignal, clock: Clock): AsyncIterable<Observation>;
  /** What was seen when it opened, for the state: no times, no secrets, the same for two healthy looks. */
  evidence(observation: Observation, inputs: Inputs): Readonly<Record<string, unknown>>;
  /** What does not hold the gate and has to be said all the same, a line for each. */
  remarks?(observation: Observation, inputs: Inputs): readonly string[];
  /** A trial that makes something and takes it away again: after the gate's own conditions, and never on refresh. */
  trial?(inputs: Inputs): GateDefinition<Inputs, unknown> | undefined;
}
