// Where an environment was deployed last, as far as that was a lab.
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { writeWhole } from "../workspace/files.ts";
import { labsFolder } from "./folder.ts";

/** Tells one life of a lab from any other, which has nothing of what was in this one. */
export interface LabLife {
  readonly pid: number;
  readonly start: number;
  readonly boot: string;
}

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

/** No lab has a dot in its name. */
function fileOf(environment: string): string {
  return join(labsFolder, `${environment}.deployed.json`);
}
