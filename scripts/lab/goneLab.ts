// Records on which run of its lab an environment was deployed. When a lab ends, everything in it is gone, and the state of its environments is out of date.
import { isDeepStrictEqual } from "node:util";
import { Failure } from "../base/fail.ts";
import { type Deployed, deployedOn } from "./deploymentRecord.ts";
import { labCommand } from "./labCommand.ts";
import { runningLab } from "./labProcess.ts";

/** Whether it was deployed in a lab that has since ended. Refuses if it is deployed on another lab that still runs. */
export async function isFromGoneLab(environment: string, here: Deployed): Promise<boolean> {
  const deployed = await deployedOn(environment);
  if (deployed === undefined) return false;
  const { lab, life } = deployed;
  if (isDeepStrictEqual({ lab, life }, { lab: here.lab, life: { ...here.life } })) return false;
  if (lab !== here.lab && isDeepStrictEqual((await runningLab(lab))?.life, life)) {
    throw new Failure(
      `${environment} is to run on the lab '${here.lab}', but is deployed on '${lab}', which is running. End that lab ('${labCommand(lab, "down")}'), ` +
        `or set lab.name back and destroy the environment first ('npm run destroy -- ${environment}').`,
    );
  }
  return true;
}
