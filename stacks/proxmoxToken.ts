// The API token of the Proxmox account.
import * as pulumi from "@pulumi/pulumi";
import { type AccountToken, accountToken } from "./accountToken.ts";
import type { ClusterConfig } from "./schema.ts";

/** A token, as Proxmox shows it once when it makes one. */
const form = /^[^\s@!=]+@[^\s@!=]+![^\s@!=]+=[0-9a-fA-F-]{36}$/;

/** Where a lab has its Image Factory, which is what tells what runs in it of the lab. Others may have a mirror of their own. */
const labFactory = "http://192.0.2.20";

export function proxmoxToken(config: Pick<ClusterConfig, "lab">): AccountToken {
  return accountToken(config, {
    key: { provider: "proxmoxve", name: "apiToken" },
    variable: "PROXMOX_VE_API_TOKEN",
    // Of the form that the plugin takes.
    standIn: "preview@pve!without-a-token=00000000-0000-0000-0000-000000000000",
    isInLab: process.env.IMAGE_FACTORY_ENDPOINT === labFactory,
    missing:
      "no token for Proxmox: set PROXMOX_VE_API_TOKEN to one of the form <user>@<realm>!<name>=<secret>, or 'npm run pulumi -- config set --secret proxmoxve:apiToken --stack <environment>'",
    check: checked,
  });
}

function checked(token: string): string {
  if (form.test(token)) return token;
  throw new pulumi.RunError(
    "the token for Proxmox is not of the form <user>@<realm>!<name>=<secret>, with the secret that Proxmox showed when it was made",
  );
}
