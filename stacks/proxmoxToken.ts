// The API token of the Proxmox account: the provider's own key in an environment's file, else the environment of who runs it.
import * as pulumi from "@pulumi/pulumi";
import type { ClusterConfig } from "./schema.ts";

export interface ProxmoxToken {
  readonly value: pulumi.Output<string>;
  /** There is none, and none is needed: this is a preview. */
  readonly isStandIn: boolean;
}

/** Of the form that the plugin takes. It is sent nowhere. */
const standIn = "preview@pve!without-a-token=00000000-0000-0000-0000-000000000000";

/** A token, as Proxmox shows it once when it makes one. */
const form = /^[^\s@!=]+@[^\s@!=]+![^\s@!=]+=[0-9a-fA-F-]{36}$/;

export function proxmoxToken({ lab }: Pick<ClusterConfig, "lab">): ProxmoxToken {
  // IMAGE_FACTORY_ENDPOINT is set by a lab alone, for what runs in it.
  const isOutside = lab !== undefined && process.env.IMAGE_FACTORY_ENDPOINT === undefined;
  const given = new pulumi.Config("proxmoxve").getSecret("apiToken") ?? (process.env.PROXMOX_VE_API_TOKEN || undefined);
  if (given !== undefined && !isOutside) return { value: pulumi.secret(given).apply(checked), isStandIn: false };
  if (pulumi.runtime.isDryRun()) return { value: pulumi.secret(standIn), isStandIn: true };
  if (isOutside) {
    throw new pulumi.RunError(
      `this environment runs on the lab '${lab.name}', and this is not in it: use 'npm run up -- <environment>', which starts the lab and enters it`,
    );
  }
  throw new pulumi.RunError(
    "no token for Proxmox: set PROXMOX_VE_API_TOKEN to one of the form <user>@<realm>!<name>=<secret>, or 'npm run pulumi -- config set --secret proxmoxve:apiToken --stack <environment>'",
  );
}

function checked(token: string): string {
  if (form.test(token)) return token;
  throw new pulumi.RunError(
    "the token for Proxmox is not of the form <user>@<realm>!<name>=<secret>, with the secret that Proxmox showed when it was made",
  );
}
