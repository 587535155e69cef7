import type * as pulumi from "@pulumi/pulumi";
import type { FailureCode } from "../errors/catalogue.ts";
import type { Clock } from "../waiting/clock.ts";
import type { Condition } from "../waiting/condition.ts";
import type { OptionalPart } from "./clusterFacts.ts";

/** What a gate observed when it opened, as the state keeps it: no times, no secrets, and equal for two healthy observations. */
export type Evidence = Readonly<Record<string, unknown>>;

/** Something that is observed until all its conditions are met. */
export interface GateCheck<Inputs, Observation> {
  /** The name in the graph: "NodesReady". */
  readonly name: string;
  /** The failure code if time runs out. */
  readonly timeoutCode: FailureCode;
  /** The conditions, in the order in which they can become met. */
  conditions(inputs: Inputs): readonly Condition<Observation>[];
  /**
   * Watches: yields an observation at once and whenever something changes, until the signal. An unreachable node or API is part of the observation, not an
   * error; it throws only if waiting cannot help.
   */
  observe(inputs: Inputs, signal: AbortSignal, clock: Clock): AsyncIterable<Observation>;
  evidence(observation: Observation, inputs: Inputs): Evidence;
}

/**
 * A gate with everything that belongs to it. The program loads every gate to build the graph, so nothing here may load the clients of Talos or Kubernetes:
 * `observe` imports them when a wait starts (lazily.ts).
 */
export interface GateDefinition<Inputs extends object, Observation, Facts> extends GateCheck<Inputs, Observation> {
  /** Name of its resource, after the cluster's name: "nodes-ready". */
  readonly resource: string;
  /** What is proven once it opens, as a clause: "every node is Ready". */
  readonly proves: string;
  /** The same with all conditions, for docs/gates.md. */
  readonly opensWhen: string;
  /** Its key in `timeouts`, and its default in seconds. */
  readonly timeout: { readonly key: string; readonly seconds: number };
  /** Whether its conditions can come and go: then all of them must hold for `stableSeconds` before it opens. */
  readonly canFlap: boolean;
  /** The optional part of a cluster that this gate needs to exist. */
  readonly part?: OptionalPart;
  /** What is observed, and which values are expected. */
  inputs(facts: Facts): GateInputs<Inputs>;
  /** The credentials among its inputs. The state keeps them as a secret. */
  credentials(facts: Facts): pulumi.Input<CredentialsOf<Inputs>> | Unresolved<CredentialsOf<Inputs>>;
  /** Versions and hashes of what it guards: when one changes, it runs again. */
  triggers(facts: Facts): readonly pulumi.Input<string>[];
  /** The same for secrets. */
  secretTriggers?(facts: Facts): SecretTriggers | undefined;
  /** The evidence in a few words, for the summary of a run. The evidence may be of another version. */
  words(evidence: Evidence): string;
  /** What does not keep the gate closed but must be reported, one line each. */
  remarks?(observation: Observation, inputs: Inputs): readonly string[];
  /** A trial that creates something and deletes it again: after the gate's own conditions, and never on refresh. */
  trial?(inputs: Inputs): GateCheck<Inputs, unknown> | undefined;
}

/** Inputs without the credentials, which may not be known yet when the graph is built. */
export type GateInputs<Inputs> = Unresolved<Omit<Inputs, "credentials">>;

type Unresolved<T> = { readonly [Key in keyof T]: pulumi.Input<T[Key]> };

type CredentialsOf<Inputs> = Inputs extends { readonly credentials: infer Credentials } ? Credentials : unknown;

export interface SecretTriggers {
  readonly values: readonly pulumi.Input<unknown>[];
  /** Whether the hashes in the state are kept, because the given values are placeholders. */
  readonly areKept: boolean;
}

/** Any gate, if the type of its observation does not matter. */
export type AnyGate = GateDefinition<object, unknown, never>;
