// The token of the account that machines are made with: the provider's own key in an environment's file, else the environment of who runs it.
import * as pulumi from "@pulumi/pulumi";
import type { ClusterConfig } from "./schema.ts";

export interface AccountToken {
  readonly value: pulumi.Output<string>;
  /** There is none, and none is needed: this is a preview. */
  readonly isStandIn: boolean;
}

export interface TokenSource {
  /** The provider's key in an environment's file. */
  readonly key: { readonly provider: string; readonly name: string };
  /** The same in the environment of who runs it. */
  readonly variable: string;
  /** Stands in for it in a preview, and is sent nowhere. */
  readonly standIn: string;
  /** Whether this runs in a lab. */
  readonly isInLab: boolean;
  /** What is said where there is none. */
  readonly missing: string;
  /** Refuses one of another form. */
  readonly check?: (token: string) => string;
}

/** Of an environment on a lab it is the lab's, whoever runs it and whatever account that person has. */
export function accountToken({ lab }: Pick<ClusterConfig, "lab">, source: TokenSource): AccountToken {
  const { key, variable, standIn, isInLab, missing, check } = source;
  const isOutside = lab !== undefined && !isInLab;
  const given = new pulumi.Config(key.provider).getSecret(key.name) ?? (process.env[variable] || undefined);
  if (given !== undefined && !isOutside) {
    const value = pulumi.secret(given);
    return { value: check === undefined ? value : value.apply(check), isStandIn: false };
  }
  if (pulumi.runtime.isDryRun()) return { value: pulumi.secret(standIn), isStandIn: true };
  if (isOutside) {
    throw new pulumi.RunError(
      `this environment runs on the lab '${lab.name}', and this is not in it: use 'npm run up -- <environment>', which starts the lab and enters it`,
    );
  }
  throw new pulumi.RunError(missing);
}
