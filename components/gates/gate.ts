import { createHash } from "node:crypto";
import * as pulumi from "@pulumi/pulumi";
import type { GateSettings } from "./gateDefinition.ts";
import { ownRow } from "./ownRow.ts";
import type { GateInputs, GateName } from "./registry.ts";

export interface GateArgs<Name extends GateName> {
  /** What is looked at and what must be so. */
  readonly inputs: Inputs<Omit<GateInputs<Name>, "credentials">>;
  /** What opens the cluster. Kept as a secret. */
  readonly credentials: pulumi.Input<GateInputs<Name> extends { credentials: infer Credentials } ? Credentials : never>;
  readonly settings: GateSettings;
  /** Hashes or versions of what the gate guards: when one changes, it is waited again. */
  readonly triggers: readonly pulumi.Input<string>[];
  /** The same of what must not be shown: it is kept as hashes, and these as secrets. */
  readonly secretTriggers?: readonly pulumi.Input<unknown>[];
}

type Inputs<T> = { readonly [Key in keyof T]: pulumi.Input<T[Key]> };

/**
 * A gate: it is made when everything that it names is proven, and not earlier, so what depends on it cannot begin before. It fails when its
 * deadline passes, and then there is nothing in the state: the next run waits again.
 */
export class Gate<Name extends GateName> extends pulumi.dynamic.Resource {
  /** What was seen when it opened, or by the last refresh that found it open. */
  declare readonly evidence: pulumi.Output<Record<string, unknown>>;
  /** Seconds that it took. */
  declare readonly waited: pulumi.Output<number>;

  constructor(gate: Name, name: string, args: GateArgs<Name>, opts: pulumi.CustomResourceOptions) {
    const { inputs, credentials, settings, triggers, secretTriggers = [] } = args;
    const row = ownRow(`pulumi-nodejs:dynamic/gates:${gate}`, name, opts.parent);
    super(
      provider,
      name,
      {
        gate,
        inputs,
        credentials: pulumi.secret(credentials),
        settings,
        triggers,
        ...(secretTriggers.length > 0 && { secretTriggers: hashes(secretTriggers) }),
        row,
        evidence: undefined,
        waited: undefined,
        drift: undefined,
      },
      pulumi.mergeOptions(opts, { additionalSecretOutputs: ["credentials", "secretTriggers"] }),
      "gates",
      gate,
    );
  }
}

function hashes(values: readonly pulumi.Input<unknown>[]): pulumi.Output<readonly string[]> {
  const hash = (value: unknown) =>
    createHash("sha256")
      .update(JSON.stringify(value) ?? "")
      .digest("hex");
  return pulumi.secret(pulumi.all(values as pulumi.Input<string>[]).apply((all) => all.map(hash)));
}

/** The engine keeps this text in the state and runs it from there on refresh, so it holds nothing but the way to the code of the checkout. */
const provider: pulumi.dynamic.ResourceProvider = {
  create: async (inputs) => (await import(`${process.cwd()}/components/gates/run.ts`)).create(inputs),
  read: async (id, outs) => (await import(`${process.cwd()}/components/gates/run.ts`)).read(id, outs),
  diff: async (id, olds, news) => (await import(`${process.cwd()}/components/gates/run.ts`)).diff(id, olds, news),
  update: async (id, olds, news) => (await import(`${process.cwd()}/components/gates/run.ts`)).update(id, olds, news),
};
