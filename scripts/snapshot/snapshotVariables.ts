// What the snapshot of an environment is to be, and the token of the project that it is to be in.
import { readFile } from "node:fs/promises";
import { packerVariables } from "../../components/images/packerVariables.ts";
import { readClusterConfigFile } from "../../stacks/configFile.ts";
import { prepareToolchain } from "../toolchain/toolchain.ts";
import { settingsFile } from "../workspace/environments.ts";
import { Failure } from "../workspace/fail.ts";
import { root } from "../workspace/paths.ts";
import { run } from "../workspace/run.ts";
import { prepareStack } from "../workspace/stack.ts";

/** As Packer and the lookup read them from their environment. */
export async function snapshotVariables(environment: string): Promise<NodeJS.ProcessEnv> {
  const file = await settingsFile(environment);
  const { talosVersion, image, hetzner, lab, platform } = readClusterConfigFile(file).config;
  if (hetzner === undefined) {
    throw new Failure(`${environment} is on platform '${platform}': only servers of Hetzner start from a snapshot`);
  }
  if (lab !== undefined) {
    throw new Failure(`${environment} runs on the lab '${lab.name}', which has its snapshot from the beginning`);
  }
  const { architecture, factory } = image;
  const { location, snapshot } = hetzner;
  const variables = { talosVersion, schematic: image, architecture, factory, location, labels: snapshot.labels };
  return { ...packerVariables(variables), HCLOUD_TOKEN: await token(environment, file) };
}

/** The same that the program takes: the provider's own in the environment's file, else that of who runs this. */
async function token(environment: string, file: string): Promise<string> {
  const isInFile = /^\s*["']?hcloud:token\b/m.test(await readFile(file, "utf8"));
  const found = isInFile ? await decrypted(environment) : process.env.HCLOUD_TOKEN;
  if (found) return found;
  throw new Failure(
    `no token for Hetzner: set HCLOUD_TOKEN to one of the project's with read and write access, or 'npm run pulumi -- config set --secret hcloud:token --stack ${environment}'`,
  );
}

async function decrypted(environment: string): Promise<string> {
  const toolchain = await prepareToolchain();
  const { options, environment: env } = await prepareStack(toolchain, environment);
  const asked = await run(toolchain.pulumi, ["config", "get", "hcloud:token", ...options], { cwd: root, env });
  if (asked.code !== 0) throw new Failure(`hcloud:token of ${environment} cannot be read:\n${asked.stderr.trim()}`);
  return asked.stdout.trim();
}
