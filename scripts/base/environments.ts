// Lists environments: each is one file.
import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { Failure } from "./fail.ts";
import { root } from "./paths.ts";

/** The file of an environment, or an error that lists the environments. */
export async function settingsFile(name: string): Promise<string> {
  const file = join(root, `Pulumi.${name}.yaml`);
  if (existsSync(file)) return file;
  const there = await environmentList();
  throw new Failure(`there is no environment '${name}': Pulumi.${name}.yaml is missing. Environments: ${there}.`);
}

/** The environments that have a file. */
export async function environments(): Promise<string[]> {
  return (await readdir(root))
    .map((file) => /^Pulumi\.([\w-]+)\.yaml$/.exec(file)?.[1])
    .filter((name) => name !== undefined)
    .sort();
}

/** The same as text. */
export async function environmentList(): Promise<string> {
  return (await environments()).join(", ");
}
