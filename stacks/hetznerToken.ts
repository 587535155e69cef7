// The token of the Hetzner project.
import { type AccountToken, accountToken } from "./accountToken.ts";
import type { ClusterConfig } from "./schema.ts";

/** Where a lab has its Hetzner Cloud. */
const labCloud = "http://192.0.2.10/v1";

export function hetznerToken(config: Pick<ClusterConfig, "lab">): AccountToken {
  return accountToken(config, {
    key: { provider: "hcloud", name: "token" },
    variable: "HCLOUD_TOKEN",
    // As long as Hetzner's, for the plugin looks at that.
    standIn: "preview-without-a-token-".padEnd(64, "0"),
    isInLab: process.env.HCLOUD_ENDPOINT === labCloud,
    missing:
      "no token for Hetzner: set HCLOUD_TOKEN to one of the project's with read and write access, or 'npm run pulumi -- config set --secret hcloud:token --stack <environment>'",
  });
}
