// Makes a Talos snapshot with Packer where there is none: `npm run snapshot -- <environment>`, and what `hetzner.snapshot.build` has the engine run.
// For the engine what it is to be stands in the environment, in the variables that Packer itself reads.
import { failureMessage } from "../components/errors/failureMessage.ts";
import { newestSnapshot, type SnapshotQuery } from "../components/images/hetznerSnapshots.ts";
import { hetznerApi } from "../components/machines/hetznerApi.ts";
import { snapshotVariables } from "./snapshot/snapshotVariables.ts";
import { readEnvironmentCall } from "./workspace/commandLine.ts";
import { Failure, main } from "./workspace/fail.ts";
import { root } from "./workspace/paths.ts";
import { run } from "./workspace/run.ts";

const template = "packer/hetzner-talos.pkr.hcl";
/** A server boots its rescue system, is written and copied: minutes. */
const ordinaryMinutes = 30;
/** Milliseconds in which Packer deletes the server and the SSH key that it has made: both are paid for, or in the way, until then. */
const grace = 180_000;

const usage = `npm run snapshot -- <environment>

Makes the Talos snapshot that the servers of an environment at Hetzner start from, unless the project has it. It takes Packer on PATH, and the
project's token: the one in the environment's file, or HCLOUD_TOKEN.

  SLUICE_SNAPSHOT_MINUTES   after how many minutes Packer is told to end: ${ordinaryMinutes} without it
  PKR_VAR_server_type       another type of server to make it on, where Hetzner has none left of the ordinary one`;

await main(async () => {
  const minutes = patience();
  let variables = process.env;
  if (process.argv.length > 2 || variables.PKR_VAR_labels === undefined) {
    const call = await readEnvironmentCall(usage, {});
    if (call === undefined) return 0;
    variables = { ...process.env, ...(await snapshotVariables(call.environment)) };
  }
  const { HCLOUD_TOKEN: token = "", PKR_VAR_labels: labels = "", PKR_VAR_architecture: architecture } = variables;
  const query = { labels: JSON.parse(labels), architecture } as SnapshotQuery;
  const found = await newestSnapshot(hetznerApi(token), query).catch((error: Error) => {
    throw refused("SLU-M102", error.message);
  });
  if (found !== undefined) {
    console.log(`sluice: snapshot ${found.id} '${found.description}' is there already`);
    return 0;
  }
  const packer = packerWith(variables, minutes);
  await packer("init", template);
  await packer("build", "-color=false", template);
  return 0;
});

function patience(): number {
  const asked = process.env.SLUICE_SNAPSHOT_MINUTES || `${ordinaryMinutes}`;
  if (Number(asked) > 0) return Number(asked);
  throw new Failure(`SLUICE_SNAPSHOT_MINUTES is '${asked}': it must be a number above 0`);
}

function packerWith(env: NodeJS.ProcessEnv, minutes: number) {
  const onOutput = (text: string) => void process.stdout.write(text);
  const options = { cwd: root, env, timeout: minutes * 60_000, grace, onOutput };
  return async (...args: readonly string[]): Promise<void> => {
    const ended = await run("packer", args, options).catch((error) => {
      const seen = error.code === "ENOENT" ? "there is no packer on PATH: install it" : error.message;
      throw refused("SLU-M103", seen);
    });
    const words = `${ended.stdout}${ended.stderr}`.trim().split("\n").slice(-15).join("\n");
    if (ended.cut === "timeout") {
      const limit = `took longer than ${minutes} minutes; SLUICE_SNAPSHOT_MINUTES gives it more`;
      throw refused("SLU-M103", `packer ${args[0]} ${limit}:\n${words}`);
    }
    if (ended.code !== 0) throw refused("SLU-M103", `packer ${args[0]} ended with ${ended.code}:\n${words}`);
  };
}

function refused(code: "SLU-M102" | "SLU-M103", seen: string): Failure {
  return new Failure(failureMessage({ code, what: "a snapshot of Talos", seen }));
}
