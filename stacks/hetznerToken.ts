// The token of the Hetzner project: the provider's own key in an environment's file, else the environment of who runs it.
import * as pulumi from "@pulumi/pulumi";
import type { ClusterConfig } from "./schema.ts";

export interface HetznerToken {
  readonly value: pulumi.Output<string>;
  /** There is none, and none is needed: this is a preview. */
  readonly isStandIn: boolean;
}

/** As long as Hetzner's, for the plugin looks at that. It is sent nowhere. */
const standIn = "preview-without-a-token-".padEnd(64, "0");

/** Where a lab has its Hetzner Cloud. */
const labCloud = "http://192.0.2.10/v1";

/** Of an environment on a lab it is the lab's, whoever runs it and whatever account that person has. */
export function hetznerToken({ lab }: Pick<ClusterConfig, "lab">): HetznerToken {
  const isOutside = lab !== undefined && process.env.HCLOUD_ENDPOINT !== labCloud;
  const given = new pulumi.Config("hcloud").getSecret("token") ?? (process.env.HCLOUD_TOKEN || undefined);
  if (given !== undefined && !isOutside) return { value: pulumi.secret(given), isStandIn: false };
  if (pulumi.runtime.isDryRun()) return { value: pulumi.secret(standIn), isStandIn: true };
  if (isOutside) {
    throw new pulumi.RunError(
      `this environment runs on the lab '${lab.name}', and this is not in it: use 'npm run up -- <environment>', which starts the lab and enters it`,
    );
  }
  throw new pulumi.RunError(
    "no token for Hetzner: set HCLOUD_TOKEN to one of the project's with read and write access, or 'npm run pulumi -- config set --secret hcloud:token --stack <environment>'",
  );
}
