// Secrets that are planted in an environment, and everything in which they are searched for while a command runs.
import { join } from "node:path";
import type { Workbench } from "./cli.ts";
import { Secrets } from "./leaks.ts";
import { type SeenProcess, watchProcesses } from "./processes.ts";
import { secretsBundle } from "./secretsFixture.ts";
import { watchFiles } from "./watchFiles.ts";

/** The machine secrets of the fixture, by their names. */
export function plantedSecrets(): Secrets {
  const secrets = new Secrets();
  const { certs, ...rest } = secretsBundle;
  secrets.addTree("machineSecrets", rest);
  for (const [title, { key }] of Object.entries(certs)) secrets.addTree(`the key of ${title}`, key);
  return secrets;
}

export interface Searched<T> {
  readonly result: T;
  /** Every process that ran meanwhile. */
  readonly processes: readonly SeenProcess[];
  /** The names of the secrets that were in a command line. */
  readonly inCommands: readonly string[];
  /** The same of environments, except for the variable in which the engine passes the decrypted config to the program: docs/environments.md. */
  readonly inEnvironments: readonly string[];
  /** The files that had secrets at some moment, each with their names, except for the disks of the lab's machines. */
  readonly inFiles: Readonly<Record<string, readonly string[]>>;
  /** How many files had any, those disks included. */
  readonly files: number;
}

/** Searches processes and files of a bench while a command runs on a lab. */
export async function searchedMeanwhile<T>(
  bench: Workbench,
  { secrets, lab }: { readonly secrets: Secrets; readonly lab: string },
  command: () => Promise<T>,
): Promise<Searched<T>> {
  const watched = watchProcesses(bench.work);
  const files = watchFiles([bench.folder], secrets);
  const result = await command();
  const processes = watched.stop();
  const found = Object.entries(files.stop());
  const disks = join(bench.work, "lab", lab, "state");
  const variables = processes.flatMap(({ environment }) => environment);
  return {
    result,
    processes,
    inCommands: secrets.foundIn(processes.map(({ command }) => command).join("\n")),
    inEnvironments: secrets.foundIn(variables.filter((one) => !one.startsWith("PULUMI_CONFIG=")).join("\n")),
    inFiles: Object.fromEntries(found.filter(([file]) => !file.startsWith(disks))),
    files: found.length,
  };
}
