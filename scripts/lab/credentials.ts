// Keeps the kubeconfig and talosconfig of a lab's cluster next to the lab, so that programs inside find them.
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { writeWhole } from "../base/files.ts";
import { labsFolder } from "./labFolders.ts";

const variables = { kubeconfig: "KUBECONFIG", talosconfig: "TALOSCONFIG" } as const;
const kinds = Object.keys(variables) as (keyof typeof variables)[];

/** The credentials of a cluster: secret, and available once it has been bootstrapped. */
export type ClusterCredentials = Readonly<Partial<Record<keyof typeof variables, string>>>;

/**
 * Stores a cluster's credentials for programs inside the lab, which use those of the last updated environment. Never throws: the update is done, and its
 * summary is still to be printed.
 */
export async function keepCredentials(lab: string, read: () => Promise<ClusterCredentials>): Promise<void> {
  try {
    const credentials = await read();
    for (const kind of kinds) {
      const text = credentials[kind];
      if (text !== undefined) await writeWhole(fileOf(lab, kind), text, 0o600);
    }
  } catch (error) {
    console.error(`sluice: programs in the lab '${lab}' cannot reach the cluster: ${(error as Error).message}`);
  }
}

export async function dropCredentials(lab: string): Promise<void> {
  for (const kind of kinds) await rm(fileOf(lab, kind), { force: true });
}

/** Variables for programs inside. The user's own, if set, point to clusters that cannot be reached from inside the lab. */
export function labCredentials(lab: string): Record<string, string> {
  const there = kinds.filter((kind) => existsSync(fileOf(lab, kind)));
  return Object.fromEntries(there.map((kind) => [variables[kind], fileOf(lab, kind)]));
}

/** No lab has a dot in its name. */
function fileOf(lab: string, kind: keyof typeof variables): string {
  return join(labsFolder, `${lab}.${kind}`);
}
