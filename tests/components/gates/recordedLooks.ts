import { readFileSync } from "node:fs";

/** Observations as a gate saw them on the lab, by what was going on. */
export function recordedLooks<Observation>(gate: string): (name: string) => Observation {
  const looks = JSON.parse(readFileSync(new URL(`recorded/${gate}.json`, import.meta.url), "utf8"));
  return (name) => {
    if (looks[name] === undefined) throw new Error(`nothing is recorded as '${name}'`);
    return structuredClone(looks[name]);
  };
}
