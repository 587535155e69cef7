// What the state keeps of a gate.
import type { GateSettings } from "./gateDefinition.ts";

/** A gate's properties as they are kept in the state. */
export interface GateProperties {
  readonly gate: string;
  /** What is looked at and what must be so, but for what opens the cluster. */
  readonly inputs: Readonly<Record<string, unknown>>;
  readonly credentials: unknown;
  readonly settings: GateSettings;
  /** Stand for what the gate guards: when one changes, it has to be proven anew. */
  readonly triggers: readonly string[];
  /** Hashes of what must not be shown, likewise. */
  readonly secretTriggers?: readonly string[];
  /** The resource's own URN, for its row. */
  readonly row: string;
}

export interface GateOutputs extends GateProperties {
  /** What was seen when the gate opened, or when it was last found open. */
  readonly evidence: Readonly<Record<string, unknown>>;
  /** Seconds until it opened. */
  readonly waited: number;
  /** What a later look found not to be so any more. */
  readonly drift: readonly string[];
}
