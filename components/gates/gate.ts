import * as pulumi from "@pulumi/pulumi";
import { CheckoutResource } from "../engine/checkoutResource.ts";
import { contentHash } from "../model/contentHash.ts";
import type { GateSettings } from "../waiting/condition.ts";
import type { AnyGate } from "./gateDefinition.ts";

export interface GateArgs {
  /** What is observed and which values are expected. */
  readonly inputs: Readonly<Record<string, pulumi.Input<unknown>>>;
  /** Kept as a secret. */
  readonly credentials: pulumi.Input<unknown>;
  readonly settings: GateSettings;
  /** Hashes or versions of what the gate guards: when one changes, the gate runs again. */
  readonly triggers: readonly pulumi.Input<string>[];
  /** The same for secrets: kept as hashes, which are secrets too. */
  readonly secretTriggers?: readonly pulumi.Input<unknown>[];
}

/**
 * A gate: the resource is created once all its conditions are proven, so what depends on it cannot start earlier. If its deadline passes, it fails and
 * nothing is in the state: the next run waits again.
 */
export class Gate extends CheckoutResource {
  /** What was observed when it opened, or by the last refresh that found it open. */
  declare readonly evidence: pulumi.Output<Record<string, unknown>>;
  /** Seconds until it opened. */
  declare readonly waitedSeconds: pulumi.Output<number>;
  /** Names this opening: it differs each time that the gate runs. */
  declare readonly opening: pulumi.Output<string>;

  constructor({ name: gate }: AnyGate, name: string, args: GateArgs, opts: pulumi.CustomResourceOptions) {
    const { secretTriggers = [], ...plain } = args;
    const hashed = secretTriggers.length > 0 && { secretTriggers: hashes(secretTriggers) };
    super(
      {
        url: import.meta.url,
        module: "gates",
        name: gate,
        secrets: ["credentials", "secretTriggers"],
        outputs: ["evidence", "waitedSeconds", "drift", "opening", "proved"],
      },
      name,
      { gate, ...plain, ...hashed },
      opts,
    );
  }
}

function hashes(values: readonly pulumi.Input<unknown>[]): pulumi.Output<readonly string[]> {
  return pulumi.all(values as pulumi.Input<string>[]).apply((all) => all.map(contentHash));
}
