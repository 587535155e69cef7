// The token of the account that machines are created with: the provider's own key in an environment's file, else an environment variable.
import * as pulumi from "@pulumi/pulumi";
import type { GeneralConfig } from "../base/generalConfig.ts";
import type { TokenPlace } from "./platform.ts";

export interface AccountToken {
  readonly value: pulumi.Output<string>;
  /** There is no token, and a preview needs none. */
  readonly isPlaceholder: boolean;
  /** The token itself, unless it is a placeholder. */
  readonly given?: string;
}

export interface TokenSource {
  readonly place: TokenPlace;
  /** The placeholder in a preview, which is sent nowhere. */
  readonly placeholder: string;
  /** Whether this runs in a lab. */
  readonly isInLab: boolean;
  /** The message if there is none. */
  readonly missing: string;
  /** Refuses a token that has another form. */
  readonly check?: (token: string) => void;
}

/** An environment on a lab uses the lab's token, whoever runs it and whatever account they have. */
export function accountToken({ lab }: Pick<GeneralConfig, "lab">, source: TokenSource): AccountToken {
  const { place, placeholder, isInLab, missing, check } = source;
  const isOutside = lab !== undefined && !isInLab;
  const given = pulumi.runtime.getConfig(place.key) ?? (process.env[place.variable] || undefined);
  if (given !== undefined && !isOutside) {
    // At once, before anything is created.
    check?.(given);
    return { value: pulumi.secret(given), isPlaceholder: false, given };
  }
  if (pulumi.runtime.isDryRun()) return { value: pulumi.secret(placeholder), isPlaceholder: true };
  if (isOutside) {
    throw new pulumi.RunError(
      `this environment runs on the lab '${lab.name}', and this command runs outside it: use 'npm run up -- <environment>', which starts the lab and runs inside it`,
    );
  }
  throw new pulumi.RunError(missing);
}
