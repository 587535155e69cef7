// On which lab an environment was last deployed.
import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { writeWhole } from "../base/files.ts";
import type { ProcessIdentity } from "../base/processIdentity.ts";
import { labsFolder } from "./labFolders.ts";

/** The process of a lab. A restarted lab contains nothing of what it contained before. */
export type LabLife = ProcessIdentity;

export interface Deployed {
  readonly lab: string;
  readonly life: LabLife;
}

export async function deployedOn(environment: string): Promise<Deployed | undefined> {
  const text = await readFile(fileOf(environment), "utf8").catch(() => undefined);
  return text === undefined ? undefined : JSON.parse(text);
}

export async function recordDeployed(environment: string, deployed: Deployed): Promise<void> {
  await writeWhole(fileOf(environment), `${JSON.stringify(deployed)}\n`);
}

export async function forgetDeployed(environment: string): Promise<void> {
  await rm(fileOf(environment), { force: true });
}

/** The environments that were last deployed on this lab. */
export async function deployedEnvironments(lab: string): Promise<readonly string[]> {
  const files = await readdir(labsFolder).catch(() => []);
  const names = files.flatMap((file) => /^([^.]+)\.deployed\.json$/.exec(file)?.[1] ?? []);
  const records = await Promise.all(names.map(async (name) => ({ name, on: await deployedOn(name) })));
  return records.filter(({ on }) => on?.lab === lab).map(({ name }) => name);
}

/** No lab has a dot in its name. */
function fileOf(environment: string): string {
  return join(labsFolder, `${environment}.deployed.json`);
}
