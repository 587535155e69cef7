import type { FailureCode } from "../errors/catalogue.ts";

/** What one condition says about one observation. */
export type Verdict =
  | { readonly kind: "ok" }
  /** It may become met. */
  | {
      readonly kind: "pending";
      readonly where?: string;
      readonly reason: string;
      /** Which of the node's logs says more: a service's, or Talos' own, `machined`. */
      readonly log?: string;
      /** It is not known whether it is met: it could not be observed yet. */
      readonly unseen?: true;
      /** The failure code if time runs out. Default: the gate's own. */
      readonly code?: FailureCode;
      /** What to do then, if the catalogue's remedy does not fit. */
      readonly remedy?: string;
      /** What has failed, if waiting seldom helps: "kubelet has failed". The wait ends early if this stays the same for `stallSeconds`. */
      readonly stall?: string;
    }
  /** Waiting cannot help: the wait ends at once. */
  | {
      readonly kind: "failed";
      readonly where?: string;
      readonly reason: string;
      readonly code: FailureCode;
      readonly remedy?: string;
    };

/** One requirement, as a phrase: "every node to be Ready". */
export interface Condition<Observation> {
  readonly phrase: string;
  /** Must be pure. Returns one verdict for each node or object that does not meet it; none if all do. */
  evaluate(observation: Observation): readonly Verdict[];
}

/** What every gate gets besides its own inputs. */
export interface GateSettings {
  /** Seconds until the gate fails. */
  readonly deadlineSeconds: number;
  /** Seconds for which all conditions must stay met without a break: the stability window. */
  readonly stableSeconds: number;
  /** Whether the gate opens only after its stability window. Otherwise the window passes while the next stage is at work, and the next gate waits for it. */
  readonly isStrict?: boolean;
  /** Seconds for which conditions must be observed unmet, without a break, to end the wait before its deadline. Default: the deadline. */
  readonly unmetSeconds?: number;
  /** Seconds for which the same `stall` must persist to end the wait before its deadline; 0, or none: never. */
  readonly stallSeconds?: number;
}
