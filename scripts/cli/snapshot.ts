// Creates a Talos snapshot with Packer unless there is one: `npm run snapshot -- <environment>`, and what the engine runs for `hetzner.snapshot.build`.
// The engine passes the description of the snapshot in the variables that Packer itself reads.

import { hetznerApi } from "../../components/api/hetznerApi.ts";
import { format } from "../../components/errors/format.ts";
import { newestSnapshot, type SnapshotQuery } from "../../components/images/hetznerSnapshots.ts";
import { readEnvironmentCall } from "../base/commandLine.ts";
import { Failure, main } from "../base/fail.ts";
import { root } from "../base/paths.ts";
import { run } from "../base/run.ts";
import { snapshotVariables } from "../snapshot/snapshotVariables.ts";

const template = "packer/hetzner-talos.pkr.hcl";
/** The default limit: a server boots its rescue system, the image is written and copied, which takes minutes. */
const ordinaryMinutes = 30;
/** Milliseconds for Packer to delete the server and the SSH key that it created: until then they cost money, or block the next run. */
const graceMs = 180_000;

const usage = `npm run snapshot -- <environment>

Creates the Talos snapshot that the servers of an environment at Hetzner start from, unless the project has it. Needs Packer on PATH, and the
project's token: from the environment's file, or from HCLOUD_TOKEN.

  SLUICE_SNAPSHOT_MINUTES   after how many minutes Packer is interrupted; ${ordinaryMinutes} without it
  PKR_VAR_server_type       another type of server to create it on, where Hetzner has none available of the usual one`;

await main(async () => {
  const minutes = allowedMinutes();
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
    console.log(`sluice: snapshot ${found.id} '${found.description}' already exists`);
    return 0;
  }
  const packer = packerWith(variables, minutes);
  await packer("init", template);
  await packer("build", "-color=false", template);
  return 0;
});

function allowedMinutes(): number {
  const asked = process.env.SLUICE_SNAPSHOT_MINUTES || `${ordinaryMinutes}`;
  if (Number(asked) > 0) return Number(asked);
  throw new Failure(`SLUICE_SNAPSHOT_MINUTES is '${asked}': it must be a number above 0`);
}

function packerWith(env: NodeJS.ProcessEnv, minutes: number) {
  const onOutput = (text: string) => void process.stdout.write(text);
  const options = { cwd: root, env, timeout: minutes * 60_000, grace: graceMs, onOutput };
  return async (...args: readonly string[]): Promise<void> => {
    const ended = await run("packer", args, options).catch((error) => {
      const seen = error.code === "ENOENT" ? "packer is not on PATH: install it" : error.message;
      throw refused("SLU-M103", seen);
    });
    const words = `${ended.stdout}${ended.stderr}`.trim().split("\n").slice(-15).join("\n");
    if (ended.cut === "timeout") {
      const limit = `took longer than ${minutes} minutes; SLUICE_SNAPSHOT_MINUTES allows more`;
      throw refused("SLU-M103", `packer ${args[0]} ${limit}:\n${words}`);
    }
    if (ended.code !== 0) throw refused("SLU-M103", `packer ${args[0]} ended with ${ended.code}:\n${words}`);
  };
}

function refused(code: "SLU-M102" | "SLU-M103", seen: string): Failure {
  return new Failure(format({ code, what: "a snapshot of Talos", seen }));
}
