// Which environments there are: an environment is its file.
import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { Failure } from "./fail.ts";
import { root } from "./paths.ts";

/** The file that an environment is described in, or an error that says which there are. */
export async function settingsFile(name: string): Promise<string> {
  const file = join(root, `Pulumi.${name}.yaml`);
  if (existsSync(file)) return file;
  const there = await environmentList();
  throw new Failure(`there is no environment '${name}': Pulumi.${name}.yaml is missing. There are: ${there}.`);
}

/** The environments that have a settings file. */
export async function environments(): Promise<string[]> {
  return (await readdir(root))
    .map((file) => /^Pulumi\.([\w-]+)\.yaml$/.exec(file)?.[1])
    .filter((name) => name !== undefined)
    .sort();
}

/** The same for a person to read. */
export async function environmentList(): Promise<string> {
  return (await environments()).join(", ");
}
