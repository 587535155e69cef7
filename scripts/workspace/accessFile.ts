// `npm run kubeconfig|talosconfig -- <environment> [--file <file>]`: what opens a cluster, in a file for its owner alone.
import { join, resolve } from "node:path";
import { prepareToolchain } from "../toolchain/toolchain.ts";
import { readEnvironmentCall } from "./commandLine.ts";
import { Failure, main } from "./fail.ts";
import { writeWhole } from "./files.ts";
import { type StackAccess, stackAccess } from "./outputs.ts";
import { workFolder } from "./paths.ts";

export interface AccessFile {
  readonly output: keyof StackAccess;
  /** What the program that reads it looks for. */
  readonly variable: string;
  /** Makes of it what serves on this machine, and says what else there is to know. */
  readonly adapt: (environment: string, text: string) => Promise<{ readonly text: string; readonly notes?: string[] }>;
}

/** Runs the command. */
export function writeAccessFile({ output, variable, adapt }: AccessFile): Promise<void> {
  return main(async () => {
    const usage = `npm run ${output} -- <environment> [--file <file>]

Writes the ${output} of the environment's cluster into a file that only you can read.

  --file   which file; without it .work/<environment>.${output}`;
    const call = await readEnvironmentCall(usage, { file: { type: "string" } });
    if (call === undefined) return 0;
    const { environment, values } = call;
    const { [output]: found } = await stackAccess(await prepareToolchain(), environment);
    if (found === undefined) {
      throw new Failure(`${environment} has no ${output} yet: 'npm run up -- ${environment}' makes one.`);
    }
    const { text, notes = [] } = await adapt(environment, found);
    // npm runs scripts in the checkout, and says where it was called.
    const file = values.file === undefined ? undefined : resolve(process.env.INIT_CWD ?? ".", values.file);
    const path = file ?? join(workFolder, `${environment}.${output}`);
    await writeWhole(path, text, 0o600);
    console.log(`${path}\n\n  export ${variable}='${path.replaceAll("'", "'\\''")}'`);
    for (const note of notes) console.log(`\n${note}`);
    return 0;
  });
}
