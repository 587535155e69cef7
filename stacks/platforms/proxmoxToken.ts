// The API token of the Proxmox account.
import * as pulumi from "@pulumi/pulumi";
import type { GeneralConfig } from "../base/generalConfig.ts";
import { type AccountToken, accountToken } from "./accountToken.ts";
import { proxmox } from "./proxmox.ts";

/** A token, in the form that Proxmox shows once when it is created. */
const form = /^[^\s@!=]+@[^\s@!=]+![^\s@!=]+=[0-9a-fA-F-]{36}$/;

/** A lab's Image Factory, by which code inside the lab recognizes the lab. Elsewhere the variable may name a mirror. */
const labFactory = "http://192.0.2.20";

export function proxmoxToken(config: Pick<GeneralConfig, "lab">): AccountToken {
  return accountToken(config, {
    place: proxmox.account.token,
    // In the form that the plugin accepts.
    placeholder: "preview@pve!without-a-token=00000000-0000-0000-0000-000000000000",
    isInLab: process.env.IMAGE_FACTORY_ENDPOINT === labFactory,
    missing:
      "no token for Proxmox: set PROXMOX_VE_API_TOKEN to one of the form <user>@<realm>!<name>=<secret>, or 'npm run pulumi -- config set --secret proxmoxve:apiToken --stack <environment>'",
    check: checked,
  });
}

function checked(token: string): void {
  if (form.test(token)) return;
  throw new pulumi.RunError(
    "the token for Proxmox is not of the form <user>@<realm>!<name>=<secret>, with the secret that Proxmox showed when it was created",
  );
}
