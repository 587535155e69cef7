// The description of an environment's snapshot, and the token of the project that it belongs to.
import { packerVariables } from "../../components/images/packerVariables.ts";
import { readClusterConfigFile } from "../../stacks/config/configFile.ts";
import { readSettingsFile } from "../../stacks/config/settingsFile.ts";
import { settingsFile } from "../base/environments.ts";
import { Failure } from "../base/fail.ts";
import { root } from "../base/paths.ts";
import { run } from "../base/run.ts";
import { prepareStack } from "../stack/stack.ts";
import { prepareToolchain } from "../toolchain/toolchain.ts";

/** In the environment variables that Packer and the lookup read. */
export async function snapshotVariables(environment: string): Promise<NodeJS.ProcessEnv> {
  const file = await settingsFile(environment);
  const { talosVersion, image, hetzner, lab, platform } = readClusterConfigFile(file).config;
  if (hetzner === undefined) {
    throw new Failure(`${environment} is on platform '${platform.name}': only Hetzner servers start from a snapshot`);
  }
  if (lab !== undefined) {
    throw new Failure(`${environment} runs on the lab '${lab.name}', which has its snapshot from the beginning`);
  }
  const { architecture, factory } = image;
  const { location, snapshot } = hetzner;
  const variables = { talosVersion, schematic: image, architecture, factory, location, labels: snapshot.labels };
  return { ...packerVariables(variables), HCLOUD_TOKEN: await token(environment, file) };
}

/** The token that the program uses: the provider's own key in the environment's file, or else the user's variable. */
async function token(environment: string, file: string): Promise<string> {
  const isInFile = readSettingsFile(file).ofOthers["hcloud:token"] !== undefined;
  const found = isInFile ? await decrypted(environment) : process.env.HCLOUD_TOKEN;
  if (found) return found;
  throw new Failure(
    `no Hetzner token: set HCLOUD_TOKEN to a token of the project with read and write access, or use 'npm run pulumi -- config set --secret hcloud:token --stack ${environment}'`,
  );
}

async function decrypted(environment: string): Promise<string> {
  const toolchain = await prepareToolchain();
  const { options, environment: env } = await prepareStack(toolchain, environment, undefined);
  const asked = await run(toolchain.pulumi, ["config", "get", "hcloud:token", ...options], { cwd: root, env });
  if (asked.code !== 0) throw new Failure(`cannot read hcloud:token of ${environment}:\n${asked.stderr.trim()}`);
  return asked.stdout.trim();
}
