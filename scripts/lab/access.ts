// What opens the cluster of an environment on a lab, for programs inside: kept beside the lab, and found by them without a word.
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { writeWhole } from "../workspace/files.ts";
import type { StackAccess } from "../workspace/outputs.ts";
import { labsFolder } from "./folder.ts";

const variables = { kubeconfig: "KUBECONFIG", talosconfig: "TALOSCONFIG" } as const;
const kinds = Object.keys(variables) as (keyof typeof variables)[];

/**
 * Keeps what opens a cluster for programs inside; the environment that went up last is the one that they see. Never throws: the run before it has
 * ended as it has, and is still to be told of.
 */
export async function keepAccess(lab: string, read: () => Promise<StackAccess>): Promise<void> {
  try {
    const access = await read();
    for (const kind of kinds) {
      const text = access[kind];
      if (text !== undefined) await writeWhole(fileOf(lab, kind), text, 0o600);
    }
  } catch (error) {
    console.error(`sluice: programs in the lab '${lab}' do not find the cluster: ${(error as Error).message}`);
  }
}

export async function dropAccess(lab: string): Promise<void> {
  for (const kind of kinds) await rm(fileOf(lab, kind), { force: true });
}

/** Variables for programs inside. A person's own, if set, lead to where nothing in the lab can go. */
export function labAccess(lab: string): Record<string, string> {
  const there = kinds.filter((kind) => existsSync(fileOf(lab, kind)));
  return Object.fromEntries(there.map((kind) => [variables[kind], fileOf(lab, kind)]));
}

/** No lab has a dot in its name. */
function fileOf(lab: string, kind: keyof typeof variables): string {
  return join(labsFolder, `${lab}.${kind}`);
}
