import { readFileSync } from "node:fs";

/** Observations that gates made on the lab, by the situation. */
export function recordedLooks<Observation>(gate: string): (name: string) => Observation {
  const looks = JSON.parse(readFileSync(new URL(`recorded/${gate}.json`, import.meta.url), "utf8"));
  return (name) => {
    if (looks[name] === undefined) throw new Error(`nothing is recorded as '${name}'`);
    return structuredClone(looks[name]);
  };
}
