// When Flux has done what git says, in Flux' own words.
import type { StatusCondition } from "../kubernetes/objects.ts";
import {
  type FluxLook,
  type FluxRoot,
  type Kustomization,
  ownerOf,
  readyOf,
  rootOf,
  said,
  sourceOf,
} from "./fluxObjects.ts";
import { hasNewest } from "./fluxSource.ts";
import type { Condition, Verdict } from "./gateDefinition.ts";

/** The root Kustomization has applied what the source has, and it is healthy. */
export function reconciled(flux: FluxRoot): Condition<FluxLook> {
  return {
    phrase: "the root Kustomization to be reconciled",
    evaluate(look) {
      const wanted = sourceOf(look, flux)?.status?.artifact?.revision;
      const root = rootOf(look, flux);
      if (root === undefined) return [{ kind: "pending", where: `Kustomization ${flux.root}`, reason: "is not there" }];
      if (readyOf(root)?.status === "True" && root.status?.lastAppliedRevision === wanted) return [];
      // The root waits for those that it applies, so what holds them holds it, and while they do it has nothing to say itself.
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
  if (
    ready?.status === "Unknown" &&
    lastAppliedRevision !== undefined &&
    lastAppliedRevision === lastAttemptedRevision
  ) {
    // What was applied is applied again, as Flux does at each interval: whether it holds still, it will say when it has looked.
    return { kind: "pending", where, reason, unseen: true };
  }
  const isFinal = ready?.status === "False" && lastAttemptedRevision === wanted && cannotBeApplied(ready);
  return isFinal && isNewest ? { kind: "failed", where, reason, code: "SLU-K115" } : { kind: "pending", where, reason };
}

/** What git holds is at fault, and will be without another commit. Words tell apart what has one reason: the same stands for what may pass. */
function cannotBeApplied({ reason = "", message = "" }: StatusCondition): boolean {
  const faults: Readonly<Record<string, RegExp>> = {
    BuildFailed: /^/,
    ArtifactFailed: /^kustomization path not found/,
    ReconciliationFailed: /dry-run failed \(Invalid\)/,
  };
  return faults[reason]?.test(message) ?? false;
}
