// Whether Flux has reconciled what git contains, in Flux' own words.
import type { StatusCondition } from "../../kubernetes/objects.ts";
import type { Condition, Verdict } from "../../waiting/condition.ts";
import {
  type FluxObservation,
  type FluxRoot,
  type Kustomization,
  ownerOf,
  readyOf,
  rootOf,
  said,
  sourceOf,
} from "./fluxObjects.ts";
import { hasNewest } from "./fluxSource.ts";

/** The root Kustomization has applied the fetched revision and is healthy. */
export function reconciled(flux: FluxRoot): Condition<FluxObservation> {
  return {
    phrase: "the root Kustomization to be reconciled",
    evaluate(look) {
      const wanted = sourceOf(look, flux)?.status?.artifact?.revision;
      const root = rootOf(look, flux);
      if (root === undefined)
        return [{ kind: "pending", where: `Kustomization ${flux.root}`, reason: "does not exist" }];
      if (readyOf(root)?.status === "True" && root.status?.lastAppliedRevision === wanted) return [];
      // The root waits for the Kustomizations that it applies: while they are not ready, only they have something to report.
      const own = `${flux.namespace}/${flux.root}`;
      const under = look.kustomizations.filter((one) => root.spec.wait && ownerOf(one) === own);
      const waiting = under.filter((one) => readyOf(one)?.status !== "True");
      const held = waiting.length > 0 && readyOf(root)?.status === "Unknown" ? waiting : [...waiting, root];
      const isNewest = hasNewest(flux)(look);
      return held.map((one) => verdict(one, wanted, isNewest));
    },
  };
}

function verdict(kustomization: Kustomization, wanted: string | undefined, isNewest: boolean): Verdict {
  const where = `Kustomization ${kustomization.metadata.name}`;
  const ready = readyOf(kustomization);
  const reason = said(ready, kustomization);
  const { lastAppliedRevision, lastAttemptedRevision } = kustomization.status ?? {};
  if (ready?.status === "True" && lastAppliedRevision !== wanted) {
    return { kind: "pending", where, reason: `has applied ${lastAppliedRevision ?? "nothing"}, and not yet ${wanted}` };
  }
  // Flux applies the same revision again at each interval. Whether it is still healthy is known when that is done.
  const isRepeated = lastAppliedRevision !== undefined && lastAppliedRevision === lastAttemptedRevision;
  if (ready?.status === "Unknown" && isRepeated) return { kind: "pending", where, reason, unseen: true };
  const isFinal = ready?.status === "False" && lastAttemptedRevision === wanted && cannotBeApplied(ready);
  return isFinal && isNewest ? { kind: "failed", where, reason, code: "SLU-K115" } : { kind: "pending", where, reason };
}

/** What git contains is invalid, and stays invalid without another commit. Transient errors have the same reasons, so the message decides. */
function cannotBeApplied({ reason = "", message = "" }: StatusCondition): boolean {
  const faults: Readonly<Record<string, RegExp>> = {
    BuildFailed: /^/,
    ArtifactFailed: /^kustomization path not found/,
    ReconciliationFailed: /dry-run failed \(Invalid\)/,
  };
  return faults[reason]?.test(message) ?? false;
}
