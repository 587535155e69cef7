// In which life of its lab an environment was deployed. With a lab all that was in it goes, and what the state says of it is true
// no more.
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { Failure } from "../workspace/fail.ts";
import { writeWhole } from "../workspace/files.ts";
import { labCommand } from "./call.ts";
import { type LabLife, labsFolder, runningLab } from "./life.ts";

interface Deployed {
  readonly lab: string;
  readonly life: LabLife;
}

export async function recordDeployed(environment: string, deployed: Deployed): Promise<void> {
  await writeWhole(fileOf(environment), `${JSON.stringify(deployed)}\n`);
}

export async function forgetDeployed(environment: string): Promise<void> {
  await rm(fileOf(environment), { force: true });
}

/** Whether it was deployed in a lab that has ended since. Refuses where that is another lab, and still runs. */
export async function isFromGoneLab(environment: string, here: Deployed): Promise<boolean> {
  const text = await readFile(fileOf(environment), "utf8").catch(() => undefined);
  if (text === undefined) return false;
  const { lab, life }: Deployed = JSON.parse(text);
  if (isDeepStrictEqual({ lab, life }, { lab: here.lab, life: { ...here.life } })) return false;
  if (lab !== here.lab && isDeepStrictEqual((await runningLab(lab))?.life, life)) {
    throw new Failure(
      `${environment} is to run on the lab '${here.lab}', but is deployed on '${lab}', which runs. End that one ('${labCommand(lab, "down")}'), ` +
        `or set lab.name back and take it away first ('npm run destroy -- ${environment}').`,
    );
  }
  return true;
}

/** No lab has a dot in its name. */
function fileOf(environment: string): string {
  return join(labsFolder, `${environment}.deployed.json`);
}
