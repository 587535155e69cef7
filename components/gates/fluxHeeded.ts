// Whether Flux is at work on all that it is to keep in line with git.
import { type FluxLook, type FluxObject, type FluxRoot, ownerOf, rootOf, sourceOf } from "./fluxObjects.ts";
import type { Condition, Verdict } from "./gateDefinition.ts";

/** By their lists: what each is, and what the flux command calls it. */
const kinds = {
  sources: ["GitRepository", "source git"],
  kustomizations: ["Kustomization", "kustomization"],
  helmReleases: ["HelmRelease", "helmrelease"],
  helmRepositories: ["HelmRepository", "source helm"],
  ociRepositories: ["OCIRepository", "source oci"],
  buckets: ["Bucket", "source bucket"],
} as const satisfies Readonly<Record<Exclude<keyof FluxLook, "watched">, readonly [kind: string, command: string]>>;

/**
 * Nobody has told Flux to leave the cluster alone, as a whole or in a part: who has, had a reason, so it is not taken back here. What git itself
 * suspends is as git says.
 */
export function heeded(flux: FluxRoot): Condition<FluxLook> {
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

/** The root Kustomization, and all that come from git by it. */
function ownersUnder({ kustomizations }: FluxLook, { namespace, root }: FluxRoot): ReadonlySet<string> {
  const owners = new Set([`${namespace}/${root}`]);
  for (let before = 0; before < owners.size; ) {
    before = owners.size;
    for (const one of kustomizations)
      if (owners.has(ownerOf(one) ?? "")) owners.add(`${one.metadata.namespace}/${one.metadata.name}`);
  }
  return owners;
}

/** kustomize-controller applies what git has by this name; `flux suspend` and people's commands write by others. */
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
    reason: "is suspended: what is in git is not applied",
    code: "SLU-K115",
    remedy: `When the reason for it is gone: \`${resume}\`, or take \`spec.suspend\` away with kubectl.`,
  };
}
