// Verifies a cluster of a soak run, from what other tools and the lab's timeline have recorded.

/** A source or a Kustomization, as kubectl prints it. */
export interface FluxObject {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly generation: number };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message: string }[];
    readonly artifact?: { readonly revision: string };
    readonly lastAppliedRevision?: string;
  };
}

/** A fact of a lab's timeline. */
interface Fact {
  readonly subject: string;
  readonly what: string;
  readonly value: string;
  readonly detail?: Readonly<Record<string, string>>;
}

/** Something that a platform has. */
export interface Item {
  readonly kind: string;
  readonly id: string;
  /** Whether the engine manages it by this id. What is created together with something else, or by the cluster, has no entry in the state. */
  readonly isManaged: boolean;
}

/** What Flux has not reconciled to this revision, and why. */
export function behind(objects: readonly FluxObject[], revision: string): readonly string[] {
  if (objects.length < 2) return ["there is no source, or nothing that is applied from it"];
  return objects.flatMap(({ kind, metadata, status = {} }) => {
    const ready = status.conditions?.find(({ type }) => type === "Ready");
    const at = status.lastAppliedRevision ?? status.artifact?.revision;
    const isDone = ready?.status === "True" && status.observedGeneration === metadata.generation && at === revision;
    return isDone ? [] : [`${kind} ${metadata.name} is at ${at}, not ${revision}: ${ready?.message}`];
  });
}

/** The rows of `flux get`, without its headers. */
export function fluxRows(
  text: string,
): readonly { readonly row: string; readonly isReady: boolean; readonly isSuspended: boolean }[] {
  const rows = text.split("\n").filter((line) => line.trim() !== "");
  return rows.map((row) => {
    const [, , , suspended, ready] = row.split("\t").map((cell) => cell.trim());
    return { row: row.replace(/\s+/g, " ").trim(), isReady: ready === "True", isSuspended: suspended !== "False" };
  });
}

/** Violations of a single bootstrap in a lab's timeline: a call that stopped the etcd of another, or a second cluster. */
export function secondBootstraps(facts: readonly Fact[]): readonly string[] {
  const interrupted = facts.filter(({ what, value }) => what === "bootstrap" && value === "interrupted");
  const starting = new Set<string>();
  const began: string[] = [];
  for (const { subject, what, value, detail } of facts) {
    if (what !== "etcd") continue;
    if (value === "starting") detail?.bootstrap === "true" ? starting.add(subject) : starting.delete(subject);
    if (value === "member" && starting.delete(subject)) began.push(subject);
  }
  return [
    ...interrupted.map(({ subject }) => `a bootstrap of ${subject} stopped the etcd of another one`),
    ...(began.length > 1 ? [`${began.length} clusters began, on ${began.join(", ")}`] : []),
  ];
}

/** What exists now and did not exist before, one line each. */
export function added(before: readonly Item[], now: readonly Item[]): readonly string[] {
  const known = new Set(before.map(lineOf));
  return now.map(lineOf).filter((line) => !known.has(line));
}

/** What the engine manages, did not exist before and has no entry in the state, one line each. */
export function orphans(before: readonly Item[], now: readonly Item[], ids: ReadonlySet<string>): readonly string[] {
  return added(
    before,
    now.filter(({ id, isManaged }) => isManaged && !ids.has(id)),
  );
}

function lineOf({ kind, id }: Item): string {
  return `${kind} ${id}`;
}
