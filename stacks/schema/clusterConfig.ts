// The schema of an environment: every key that Pulumi.<env>.yaml may hold, with its meaning and default (`npm run settings`).
// It checks each value on its own; how values must fit together is in stacks/rules.
import { z } from "zod";
import type { Settings } from "../../components/model/settings/documentation.ts";
import { node } from "../../components/model/settings/node.ts";
import { clusterKeys, softwareKeys } from "../base/generalConfig.ts";
import type { Platform } from "../platforms/platform.ts";
import { platforms } from "../platforms/registry.ts";

type Known = (typeof platforms)[number];

/** Each platform has its own section, with its name. */
type Sections = { readonly [P in Known as P["name"]]: z.ZodOptional<P["section"]> };
const sections = Object.fromEntries(platforms.map(({ name, section }) => [name, section.optional()])) as Sections;

type Merged<Keys> = (Keys extends unknown ? (keys: Keys) => void : never) extends (keys: infer All) => void
  ? All
  : never;
const nodeKeys = Object.assign({}, ...platforms.map((platform) => platform.nodeKeys)) as Merged<Known["nodeKeys"]>;

/** Top-level keys, as in Pulumi.<env>.yaml after the project's name. */
export const clusterConfigSchema = z.strictObject({
  ...clusterKeys,
  platform: z
    .enum(platforms.map(({ name }) => name))
    .transform(platformNamed)
    .meta(clusterKeys.platform.meta() ?? {}),
  nodes: z
    .array(node.extend(nodeKeys))
    .min(1, "must list at least one node")
    .meta(clusterKeys.nodes.meta() ?? {}),
  ...sections,
  ...softwareKeys,
});

function platformNamed(name: string): Platform {
  const found = platforms.find((platform) => platform.name === name);
  if (found === undefined) throw new Error(`there is no platform '${name}'`); // the enum is made of their names
  return found;
}

/** Top-level keys whose values are encrypted in Pulumi.<env>.yaml and never shown in a message. */
export const secretKeys: ReadonlySet<string> = new Set<keyof ClusterConfig>([
  "machineSecrets",
  "tailscaleAuthKey",
  "secretPatches",
  "sealedSecretsCertificate",
  "sealedSecretsKey",
  "fluxGitPassword",
  "fluxGitSshKey",
  "sopsAgeKey",
  "backupS3AccessKey",
  "backupS3SecretKey",
]);

export type ClusterConfig = Omit<Settings<typeof clusterConfigSchema>, "platform"> & {
  readonly platform: Platform;
  /** The section of the platform that the environment is on. */
  readonly settings: unknown;
};
