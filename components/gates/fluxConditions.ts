// When Flux has done what git says, in Flux' own words.
import type { KubernetesObject, StatusCondition } from "../kubernetes/objects.ts";
import type { Condition, Verdict } from "./gateDefinition.ts";

interface Reconciled extends KubernetesObject {
  readonly status?: { readonly observedGeneration?: number; readonly conditions?: readonly StatusCondition[] };
}
interface Source extends Reconciled {
  readonly spec: { readonly interval: string; readonly suspend?: boolean };
  readonly status?: Reconciled["status"] & { readonly artifact?: { readonly revision: string } };
}
interface Kustomization extends Reconciled {
  readonly spec: { readonly wait?: boolean; readonly suspend?: boolean };
  readonly status?: Reconciled["status"] & {
    readonly lastAppliedRevision?: string;
    readonly lastAttemptedRevision?: string;
  };
}

export type FluxKinds = { sources: Source; kustomizations: Kustomization };
type Observation = { readonly [Kind in keyof FluxKinds]: readonly FluxKinds[Kind][] } & {
  /** Seconds since the first look. */
  readonly watched: number;
};

/** Nobody has told Flux to leave the cluster alone: who has, had a reason, so it is not taken back here. */
export function heeded(sourceName: string, rootName: string): Condition<Observation> {
  return {
    phrase: "Flux not to be suspended",
    evaluate({ sources, kustomizations }) {
      const isSuspended = (name: string) => (one: Source | Kustomization) =>
        one.metadata.name === name && one.spec.suspend === true;
      return [
        ...(sources.some(isSuspended(sourceName)) ? [suspended("GitRepository", "source git", sourceName)] : []),
        ...(kustomizations.some(isSuspended(rootName)) ? [suspended("Kustomization", "kustomization", rootName)] : []),
      ];
    },
  };
}

function suspended(kind: string, command: string, name: string): Verdict {
  return {
    kind: "failed",
    where: `${kind} ${name}`,
    reason: "is suspended: what is in git is not applied",
    code: "SLU-K115",
    remedy: `When the reason for it is gone: \`flux resume ${command} ${name}\`, or take \`spec.suspend\` away with kubectl.`,
  };
}

/** The source has what is in git, of a certain commit where one is asked for. */
export function fetched(name: string, revision: string | undefined): Condition<Observation> {
  return {
    phrase: revision === undefined ? "Flux to have fetched the repository" : `Flux to have fetched ${revision}`,
    evaluate({ sources }) {
      const where = `GitRepository ${name}`;
      const source = sources.find(({ metadata }) => metadata.name === name);
      const ready = readyOf(source);
      const artifact = source?.status?.artifact;
      if (ready?.status !== "True" || artifact === undefined)
        return [{ kind: "pending", where, reason: said(ready, source) }];
      if (revision === undefined || artifact.revision.includes(revision)) return [];
      return [{ kind: "pending", where, reason: `has ${artifact.revision}` }];
    },
  };
}

/** The root Kustomization has applied what the source has, and it is healthy. */
export function reconciled(sourceName: string, rootName: string): Condition<Observation> {
  return {
    phrase: "the root Kustomization to be reconciled",
    evaluate({ sources, kustomizations, watched }) {
      const source = sources.find(({ metadata }) => metadata.name === sourceName);
      const wanted = source?.status?.artifact?.revision;
      const root = kustomizations.find(({ metadata }) => metadata.name === rootName);
      if (root === undefined) return [{ kind: "pending", where: `Kustomization ${rootName}`, reason: "is not there" }];
      if (readyOf(root)?.status === "True" && root.status?.lastAppliedRevision === wanted) return [];
      // The root waits for those that it applies, so what holds them holds it, and while they do it has nothing to say itself.
      const under = kustomizations.filter(({ metadata }) => root.spec.wait && metadata.labels?.[ownedBy] === rootName);
      const waiting = under.filter((one) => readyOf(one)?.status !== "True");
      const held = waiting.length > 0 && readyOf(root)?.status === "Unknown" ? waiting : [...waiting, root];
      const isNewest = hasNewest(sourceName)({ sources, watched });
      return held.map((one) => verdict(one, wanted, isNewest));
    },
  };
}

/** Whether git has nothing newer: a commit that mends a fault may be there already, and is fetched within the interval. */
export function hasNewest(sourceName: string): (seen: Pick<Observation, "sources" | "watched">) => boolean {
  return ({ sources, watched }) => {
    const source = sources.find(({ metadata }) => metadata.name === sourceName);
    return readyOf(source)?.status === "True" && watched > seconds(source?.spec.interval);
  };
}

const ownedBy = "kustomize.toolkit.fluxcd.io/name";

function verdict(kustomization: Kustomization, wanted: string | undefined, isNewest: boolean): Verdict {
  const where = `Kustomization ${kustomization.metadata.name}`;
  const ready = readyOf(kustomization);
  const reason = said(ready, kustomization);
  const { lastAppliedRevision, lastAttemptedRevision } = kustomization.status ?? {};
  if (ready?.status === "True" && lastAppliedRevision !== wanted) {
    return { kind: "pending", where, reason: `has applied ${lastAppliedRevision ?? "nothing"}, and not yet ${wanted}` };
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

/** Of a duration as Go writes it: `1m30s`. */
function seconds(duration = "0s"): number {
  const units: Readonly<Record<string, number>> = { h: 3600, m: 60, s: 1, ms: 0.001 };
  return [...duration.matchAll(/([\d.]+)(h|ms|m|s)/g)].reduce(
    (sum, [, n, unit = ""]) => sum + Number(n) * (units[unit] ?? 0),
    0,
  );
}

/** Its condition Ready, if it is about the object as it is now. */
function readyOf(object: Reconciled | undefined): StatusCondition | undefined {
  const ready = object?.status?.conditions?.find(({ type }) => type === "Ready");
  return ready?.observedGeneration === object?.metadata.generation ? ready : undefined;
}

function said(ready: StatusCondition | undefined, object: Reconciled | undefined): string {
  if (object === undefined) return "is not there";
  if (ready === undefined) return "has not been looked at by its controller yet";
  // Folders of the controller's own, another one at each try, say nothing of the repository.
  const message = ready.message?.trim().replace(/\/\S*\/kustomization-\d+\//g, "");
  return `${ready.reason}: ${message}`;
}
