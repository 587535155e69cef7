// The token of the Hetzner project.

import { hetznerUrl } from "../../components/api/hetznerApi.ts";
import type { GeneralConfig } from "../base/generalConfig.ts";
import { type AccountToken, accountToken } from "./accountToken.ts";
import { hetzner } from "./hetzner.ts";

/** The API of a lab's Hetzner Cloud. */
const labCloud = "http://192.0.2.10/v1";

export function hetznerToken(config: Pick<GeneralConfig, "lab">): AccountToken {
  return accountToken(config, {
    place: hetzner.account.token,
    // As long as Hetzner's tokens: the plugin checks the length.
    placeholder: "preview-without-a-token-".padEnd(64, "0"),
    isInLab: hetznerUrl() === labCloud,
    missing:
      "no token for Hetzner: set HCLOUD_TOKEN to a token of the project with read and write access, or 'npm run pulumi -- config set --secret hcloud:token --stack <environment>'",
  });
}
