// Adopts orphans: writes them into the state, and lets the engine read them.
import type { CreatedResources } from "../../components/lifecycle/createdResource.ts";
import { findOrphans, type Orphans, type RunTime, stackRecord } from "../../components/lifecycle/orphans.ts";
import { record } from "../../components/model/untyped.ts";
import type { Ended } from "../base/run.ts";

/** How this calls the engine; tests replace it. */
export interface EngineAccess {
  /** Calls the CLI for the stack. */
  readonly call: (args: readonly string[], input?: string) => Promise<Ended>;
  /** When runs of the stack were in progress. */
  readonly runs?: readonly RunTime[];
}

export interface Adopted {
  readonly orphans: Orphans;
  /** Why the engine could not adopt them. Then the state is unchanged. */
  readonly failure?: string;
}

/** Compares a platform with the state, and adopts what a run of this stack created and could not record. */
export async function adopt(created: CreatedResources, { call, runs = [] }: EngineAccess): Promise<Adopted> {
  const exported = await call(["stack", "export"]);
  if (exported.code !== 0) throw new Error(exported.stderr.trim());
  const before = record(JSON.parse(exported.stdout));
  const state = stackRecord(before.deployment);
  const orphans = findOrphans(created, { ...state, runs });
  const result = { orphans };
  const entries = orphans.adopted.map(({ entry }) => entry);
  // What a killed run had started to create is known by now, or is created again from however far it got: the engine would only warn of it, run after run.
  const pending = state.pending.filter(({ type }) => type !== "creating");
  if (entries.length === 0 && pending.length === state.pending.length) return result;

  const deployment = {
    ...record(before.deployment),
    resources: [...state.resources, ...entries],
    pending_operations: pending,
  };
  const imported = await call(["stack", "import"], JSON.stringify({ ...before, deployment }));
  if (imported.code !== 0) return { ...result, failure: imported.stderr.trim() };
  if (entries.length === 0) return result;
  const targets = entries.flatMap(({ urn }) => ["--target", urn]);
  const read = await call(["refresh", "--yes", "--skip-preview", "--suppress-outputs", "--color", "never", ...targets]);
  if (read.code === 0) return result;
  await call(["stack", "import"], exported.stdout);
  return { ...result, failure: `${read.stdout}${read.stderr}`.trim() };
}
