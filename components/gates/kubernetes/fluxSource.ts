// Whether Flux uses the repository that the environment names, and has fetched it.
import { isDeepStrictEqual } from "node:util";
import type { Condition } from "../../waiting/condition.ts";
import { type FluxObservation, type FluxRoot, readyOf, rootOf, said, sourceOf } from "./fluxObjects.ts";

/** The source of the cluster's manifests. */
export interface FluxAsked {
  readonly url: string;
  readonly branch: string;
  /** The folder that the root Kustomization applies. */
  readonly path: string;
  /** The commit that must be applied. Default: the newest one that Flux has fetched. */
  readonly revision?: string;
}

const remedy =
  "`npm run up -- <environment> --refresh` reverts what was changed by hand. If git contains the object itself, git and the environment's file must agree.";

/** The source and the root Kustomization match the environment: nobody has changed them by hand. */
export function asAsked(flux: FluxRoot, { url, branch, path, revision }: FluxAsked): Condition<FluxObservation> {
  return {
    phrase: "Flux to use the source that the environment names",
    evaluate(look) {
      const [source, root] = [sourceOf(look, flux), rootOf(look, flux)];
      const ref = { branch, ...(revision !== undefined && { commit: revision }) };
      const pairs = [
        ...(source === undefined ? [] : [differs(`GitRepository ${flux.source}`, "url", source.spec.url, url)]),
        ...(source === undefined ? [] : [differs(`GitRepository ${flux.source}`, "ref", source.spec.ref ?? {}, ref)]),
        ...(root === undefined
          ? []
          : [differs(`Kustomization ${flux.root}`, "path", folder(root.spec.path), folder(path))]),
      ];
      return pairs.flatMap(({ where, key, has, want, isSame }) =>
        isSame
          ? []
          : [{ kind: "failed", where, reason: `spec.${key} is ${has}, not ${want}`, code: "SLU-K115", remedy }],
      );
    },
  };
}

function differs(where: string, key: string, has: unknown, want: unknown) {
  return { where, key, has: shown(has), want: shown(want), isSame: isDeepStrictEqual(has, want) };
}

/** Someone who changes a URL by hand may have put a password into it. */
function shown(value: unknown): string {
  return JSON.stringify(value).replace(/\/\/[^/@"]*@/g, "//***@");
}

/** `./a`, `a` and `./a/` are the same. */
function folder(path = "./"): string {
  return `./${path.replace(/^\.?\//, "").replace(/\/$/, "")}`;
}

/** The source has fetched the repository, at a certain commit if one is set. */
export function fetched(flux: FluxRoot, { revision }: FluxAsked): Condition<FluxObservation> {
  return {
    phrase: revision === undefined ? "Flux to have fetched the repository" : `Flux to have fetched ${revision}`,
    evaluate(look) {
      const where = `GitRepository ${flux.source}`;
      const source = sourceOf(look, flux);
      const ready = readyOf(source);
      const artifact = source?.status?.artifact;
      if (ready?.status !== "True" || artifact === undefined)
        return [{ kind: "pending", where, reason: said(ready, source) }];
      if (revision === undefined || artifact.revision.endsWith(`:${revision}`)) return [];
      return [{ kind: "pending", where, reason: `has ${artifact.revision}` }];
    },
  };
}

/** Whether git has nothing newer: a commit that fixes the fault may exist already, and is fetched within the interval. */
export function hasNewest(flux: FluxRoot): (look: Pick<FluxObservation, "sources" | "watched">) => boolean {
  return (look) => {
    const source = sourceOf(look, flux);
    return readyOf(source)?.status === "True" && look.watched > seconds(source?.spec.interval);
  };
}

/** Parses a duration in Go's notation: `1m30s`. */
function seconds(duration = "0s"): number {
  const units: Readonly<Record<string, number>> = { h: 3600, m: 60, s: 1, ms: 0.001 };
  return [...duration.matchAll(/([\d.]+)(h|ms|m|s)/g)].reduce(
    (sum, [, n, unit = ""]) => sum + Number(n) * (units[unit] ?? 0),
    0,
  );
}
