// Whether Flux reconciles everything that comes from git.

import type { Condition, Verdict } from "../../waiting/condition.ts";
import { type FluxObject, type FluxObservation, type FluxRoot, ownerOf, rootOf, sourceOf } from "./fluxObjects.ts";

/** By the names of their lists: the kind, and its name in the flux command. */
const kinds = {
  sources: ["GitRepository", "source git"],
  kustomizations: ["Kustomization", "kustomization"],
  helmReleases: ["HelmRelease", "helmrelease"],
  helmRepositories: ["HelmRepository", "source helm"],
  ociRepositories: ["OCIRepository", "source oci"],
  buckets: ["Bucket", "source bucket"],
} as const satisfies Readonly<
  Record<Exclude<keyof FluxObservation, "watched">, readonly [kind: string, command: string]>
>;

/**
 * Nobody has suspended Flux, for the cluster or a part of it. Whoever did had a reason, so it is reported and not reverted. A suspension that git itself
 * contains is respected.
 */
export function notSuspended(flux: FluxRoot): Condition<FluxObservation> {
  return {
    phrase: "Flux not to be suspended",
    evaluate(look) {
      const owners = ownersUnder(look, flux);
      const begins: readonly unknown[] = [sourceOf(look, flux), rootOf(look, flux)];
      const isOurs = (one: FluxObject) => begins.includes(one) || (owners.has(ownerOf(one) ?? "") && !isByGit(one));
      return (Object.keys(kinds) as (keyof typeof kinds)[]).flatMap((list) =>
        look[list].filter((one) => one.spec.suspend === true && isOurs(one)).map((one) => suspended(list, one, flux)),
      );
    },
  };
}

/** The root Kustomization, and everything that it applies from git. */
function ownersUnder({ kustomizations }: FluxObservation, { namespace, root }: FluxRoot): ReadonlySet<string> {
  const owners = new Set([`${namespace}/${root}`]);
  for (let before = 0; before < owners.size; ) {
    before = owners.size;
    for (const one of kustomizations)
      if (owners.has(ownerOf(one) ?? "")) owners.add(`${one.metadata.namespace}/${one.metadata.name}`);
  }
  return owners;
}

/** kustomize-controller applies what git contains under this field manager; `flux suspend` and users' commands use others. */
function isByGit({ metadata: { managedFields = [] } }: FluxObject): boolean {
  return managedFields.some(
    ({ manager, fieldsV1 }) => manager === "kustomize-controller" && fieldsV1?.["f:spec"]?.["f:suspend"] !== undefined,
  );
}

function suspended(list: keyof typeof kinds, { metadata: { name, namespace } }: FluxObject, flux: FluxRoot): Verdict {
  const [kind, command] = kinds[list];
  const isElsewhere = namespace !== flux.namespace;
  const resume = `flux resume ${command} ${name}${isElsewhere ? ` -n ${namespace}` : ""}`;
  return {
    kind: "failed",
    where: `${kind} ${isElsewhere ? `${namespace}/` : ""}${name}`,
    reason: "is suspended: changes in git are not applied",
    code: "SLU-K115",
    remedy: `Once the reason for it is gone: \`${resume}\`, or remove \`spec.suspend\` with kubectl.`,
  };
}
