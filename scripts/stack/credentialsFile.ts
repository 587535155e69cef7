// `npm run kubeconfig|talosconfig -- <environment> [--file <file>]`: a cluster's credentials, in a file that only its owner can read.
import { join } from "node:path";
import { readEnvironmentCall } from "../base/commandLine.ts";
import { Failure, main } from "../base/fail.ts";
import { namedFile, writeWhole } from "../base/files.ts";
import { workFolder } from "../base/paths.ts";
import type { ClusterCredentials } from "../lab/credentials.ts";
import { prepareToolchain } from "../toolchain/toolchain.ts";
import { stackCredentials } from "./credentials.ts";

export interface CredentialsFile {
  readonly output: keyof ClusterCredentials;
  /** The environment variable that names the file for programs. */
  readonly variable: string;
  /** Adapts it to this host, and returns what else the user should know. */
  readonly adapt: (environment: string, text: string) => Promise<{ readonly text: string; readonly notes?: string[] }>;
}

/** Runs the command. */
export function writeCredentialsFile({ output, variable, adapt }: CredentialsFile): Promise<void> {
  return main(async () => {
    const usage = `npm run ${output} -- <environment> [--file <file>]

Writes the ${output} of the environment's cluster into a file that only you can read.

  --file <file>   which file; without it .work/<environment>.${output}`;
    const call = await readEnvironmentCall(usage, { file: { type: "string" } });
    if (call === undefined) return 0;
    const { environment, values } = call;
    const { [output]: found } = await stackCredentials(await prepareToolchain(), environment);
    if (found === undefined) {
      throw new Failure(`${environment} has no ${output} yet: 'npm run up -- ${environment}' creates it.`);
    }
    const { text, notes = [] } = await adapt(environment, found);
    const path = values.file === undefined ? join(workFolder, `${environment}.${output}`) : namedFile(values.file);
    await writeWhole(path, text, 0o600);
    console.log(`${path}\n\n  export ${variable}='${path.replaceAll("'", "'\\''")}'`);
    for (const note of notes) console.log(`\n${note}`);
    return 0;
  });
}
