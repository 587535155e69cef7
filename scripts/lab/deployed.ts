// In which life of its lab an environment was deployed. With a lab all that was in it goes, and what the state says of it is true
// no more.
import { isDeepStrictEqual } from "node:util";
import { Failure } from "../workspace/fail.ts";
import { labCommand } from "./call.ts";
import { type Deployed, deployedOn } from "./deployedRecord.ts";
import { runningLab } from "./life.ts";

/** Whether it was deployed in a lab that has ended since. Refuses where that is another lab, and still runs. */
export async function isFromGoneLab(environment: string, here: Deployed): Promise<boolean> {
  const deployed = await deployedOn(environment);
  if (deployed === undefined) return false;
  const { lab, life } = deployed;
  if (isDeepStrictEqual({ lab, life }, { lab: here.lab, life: { ...here.life } })) return false;
  if (lab !== here.lab && isDeepStrictEqual((await runningLab(lab))?.life, life)) {
    throw new Failure(
      `${environment} is to run on the lab '${here.lab}', but is deployed on '${lab}', which runs. End that one ('${labCommand(lab, "down")}'), ` +
        `or set lab.name back and take it away first ('npm run destroy -- ${environment}').`,
    );
  }
  return true;
}
