// The token of the Hetzner project: the provider's own key in an environment's file, else the environment of who runs it.
import * as pulumi from "@pulumi/pulumi";

export interface HetznerToken {
  readonly value: pulumi.Output<string>;
  /** There is none, and none is needed: this is a preview. */
  readonly isStandIn: boolean;
}

/** As long as Hetzner's, for the plugin looks at that. It is sent nowhere. */
const standIn = "preview-without-a-token-".padEnd(64, "0");

export function hetznerToken(): HetznerToken {
  const given = new pulumi.Config("hcloud").getSecret("token") ?? (process.env.HCLOUD_TOKEN || undefined);
  if (given !== undefined) return { value: pulumi.secret(given), isStandIn: false };
  if (pulumi.runtime.isDryRun()) return { value: pulumi.secret(standIn), isStandIn: true };
  throw new pulumi.RunError(
    "no token for Hetzner: set HCLOUD_TOKEN to one of the project's with read and write access, or 'npm run pulumi -- config set --secret hcloud:token --stack <environment>'",
  );
}
