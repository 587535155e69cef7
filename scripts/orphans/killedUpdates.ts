// Updates that a kill of the engine ended: nobody knows how far they came. The engine forgets them with its next run, so they get the mark of an update that failed.
import { markUnfinished } from "../../components/engine/unfinishedUpdate.ts";
import { type ExportedResource, type StackRecord, stackRecord } from "../../components/lifecycle/orphans.ts";
import { record, text } from "../../components/model/untyped.ts";
import type { EngineAccess } from "./adoption.ts";

/** The type of all our own resources. */
const ownType = "pulumi-nodejs:dynamic/";

export async function markKilledUpdates({ pending }: StackRecord, { call }: Pick<EngineAccess, "call">): Promise<void> {
  if (killedUpdates(pending).size === 0) return;
  const exported = await call(["stack", "export"]);
  if (exported.code !== 0) throw new Error(exported.stderr.trim());
  const before = record(JSON.parse(exported.stdout));
  const state = stackRecord(before.deployment);
  const killed = killedUpdates(state.pending);
  const resources = state.resources.map((resource) =>
    killed.has(text(resource.urn)) && resource.delete !== true
      ? { ...resource, outputs: markUnfinished(record(resource.outputs)) }
      : resource,
  );
  const deployment = { ...record(before.deployment), resources };
  const imported = await call(["stack", "import"], JSON.stringify({ ...before, deployment }));
  if (imported.code !== 0) throw new Error(imported.stderr.trim());
}

/** The URNs of our own resources that a run was updating when it was killed. */
function killedUpdates(pending: readonly ExportedResource[]): ReadonlySet<string> {
  return new Set(
    pending.flatMap(({ type: operation, resource }) => {
      const { type, urn } = record(resource);
      return operation === "updating" && text(type).startsWith(ownType) ? [text(urn)] : [];
    }),
  );
}
