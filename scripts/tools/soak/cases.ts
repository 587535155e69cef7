// What a soak run tries: a topology on a platform, and what fails while it comes up, all decided by a seed.
import { allPlatforms } from "../../../stacks/platforms/registry.ts";
import { Chance } from "./chance.ts";
import { type ChosenFault, chooseFaults } from "./faults.ts";
import { type ChosenKill, chooseKill, describeKill } from "./kills.ts";

export interface SoakCase {
  readonly seed: number;
  readonly platform: string;
  readonly controlPlanes: 1 | 3;
  readonly workers: number;
  readonly talos: "1.12.6" | "1.13.8";
  readonly faults: readonly ChosenFault[];
  /** A process that is killed, in one case of three. */
  readonly kill?: ChosenKill;
}

/** What can be left out of a case: a fault by its number, from 0, and the kill. */
export type CasePart = number | "kill";

/** `only` keeps these parts and changes nothing else. */
export function soakCase(seed: number, only?: readonly CasePart[]): SoakCase {
  const chance = new Chance(seed);
  const { name: platform, account, loadBalancer } = chance.one(allPlatforms);
  const controlPlanes = chance.one<1 | 3>([1, 3]);
  const workers = chance.between(0, 2);
  const talos = chance.one<SoakCase["talos"]>(["1.13.8", "1.12.6"]);
  const count = chance.between(1, 4);
  const nodes = nodesOf(controlPlanes, workers);
  const hasApi = account !== undefined;
  const faults = chooseFaults(chance, count, { hasApi, hasBalancer: loadBalancer !== undefined, nodes });
  const kill = chance.between(1, 3) === 1 ? chooseKill(chance, hasApi) : undefined;
  const isKept = (part: CasePart) => only === undefined || only.includes(part);
  return {
    ...{ seed, platform, controlPlanes, workers, talos },
    faults: faults.filter((_, place) => isKept(place)),
    ...(kill !== undefined && isKept("kill") && { kill }),
  };
}

/** All parts of a case. */
export function partsOf({ faults, kill }: SoakCase): readonly CasePart[] {
  return [...faults.keys(), ...(kill === undefined ? [] : ["kill" as const])];
}

/** The names that the environment gives its nodes. */
export function nodesOf(controlPlanes: number, workers: number): [string, ...string[]] {
  const more = Array.from({ length: controlPlanes - 1 }, (_, index) => `cp-${index + 2}`);
  return ["cp-1", ...more, ...Array.from({ length: workers }, (_, index) => `w-${index + 1}`)];
}

/** "hetzner 3+1, Talos 1.13.8" */
export function describeCase({ platform, controlPlanes, workers, talos }: SoakCase): string {
  return `${platform} ${controlPlanes}+${workers}, Talos ${talos}`;
}

/** "cloud POST * fail 503 2x", and the kill. */
export function describeParts({ faults, kill }: SoakCase): readonly string[] {
  return [...faults.map(describeFault), ...(kill === undefined ? [] : [describeKill(kill)])];
}

function describeFault(fault: ChosenFault): string {
  const { on, name, subject, do: action, code, by, times, when, after, for: during } = fault;
  const words = [
    ...[on, name, subject, action, code, by, times && `${times}x`],
    ...[when && `when ${when.value ?? when.what}`, after && `after ${after}`, during && `for ${during}`],
  ];
  return words.filter(Boolean).join(" ");
}

/** What to type to run one case again, with these of its parts. */
export function reproduction(seed: number, parts: readonly CasePart[]): string {
  return `npm run soak -- --runs 1 --seed ${seed} --faults ${parts.join(",") || "none"}`;
}
