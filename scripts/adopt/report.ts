// What `npm run adopt` prints. Pure, and without secrets.
import { stringify } from "yaml";
import { count } from "../../components/model/count.ts";
import { redact } from "../../components/talos/config/redact.ts";
import type { AdoptionFault } from "./clusterFaults.ts";
import type { Difference } from "./compareNodes.ts";
import type { KeepingPatches } from "./keepingPatches.ts";
import type { RunningNode } from "./lookAtCluster.ts";
import type { PlannedChanges } from "./plannedChanges.ts";
import type { ReleaseFindings } from "./releaseFindings.ts";

export interface Comparison {
  readonly nodes: readonly Pick<RunningNode, "name" | "version" | "stage">[];
  readonly faults: readonly AdoptionFault[];
  readonly configs: readonly Difference[];
  /** Those that the suggested patches do not remove. */
  readonly left: readonly Difference[];
  readonly suggested: KeepingPatches;
  readonly releases: ReleaseFindings;
  /** What the platform creates besides. */
  readonly notes: readonly string[];
}

/** Whether the next `up` would change nothing of what runs. */
export function isClean({ configs, releases }: Comparison): boolean {
  return configs.length + releases.differences.length === 0;
}

export function reportOf(
  environment: string,
  comparison: Comparison,
  { accepts }: { readonly accepts: boolean },
): readonly string[] {
  const { nodes, faults, configs, releases } = comparison;
  const total = configs.length + releases.differences.length;
  return [
    `${environment}: ${count(nodes.length, "node")}, ${count(faults.length, "obstacle")}, ${count(total, "difference")}`,
    ...listed(
      "Runs:",
      nodes.map(({ name, version, stage }) => `${name}: Talos ${version}, ${stage}`),
    ),
    ...listed(
      "Keeps the cluster from being adopted:",
      faults.flatMap(({ where, seen, remedy }) => [`${where}: ${seen}`, `  what to do: ${remedy}`]),
    ),
    ...listed("The next 'up' would change machine configs:", configLines(comparison)),
    ...listed(
      "The next 'up' would upgrade releases:",
      releases.differences.flatMap(({ release, text, key }) => [`${release}: ${text}`, `  to keep it: ${key}`]),
    ),
    ...patchLines(environment, comparison.suggested),
    ...listed(
      "Is taken over as it is:",
      releases.adopted.filter(({ inputs }) => inputs !== undefined).map(({ id }) => `Helm release ${id}`),
    ),
    ...listed("The next 'up' installs:", releases.missing),
    ...listed("The next 'up' creates besides:", comparison.notes),
    ...end(comparison, accepts),
  ];
}

/** After the comparison: what the engine finds on the platform. */
export function platformReport(
  title: string,
  { harmless, differences, faults }: PlannedChanges,
  { accepts }: { readonly accepts: boolean },
): readonly string[] {
  return [
    ...listed(
      "Keeps the cluster from being adopted:",
      faults.flatMap(({ where, seen, remedy }) => [`${where}: ${seen}`, `  what to do: ${remedy}`]),
    ),
    ...listed(`The next 'up' would change at ${title}, which may have an effect:`, differences),
    ...listed(`The next 'up' changes at ${title}, without an effect on nodes:`, harmless),
    ...(faults.length > 0 ? ["", "Nothing was adopted."] : []),
    ...(faults.length === 0 && differences.length > 0 && !accepts ? ["", notAdopted] : []),
  ];
}

const notAdopted =
  "Nothing was adopted. With --accept the cluster is adopted as it runs, and the next 'up' makes these changes.";

function end(comparison: Comparison, accepts: boolean): readonly string[] {
  if (comparison.faults.length > 0) return ["", "Nothing was adopted."];
  if (isClean(comparison) || accepts) return [];
  return ["", notAdopted];
}

function listed(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : ["", title, ...lines.map((line) => `  ${line}`)];
}

function configLines({ configs, left }: Comparison): readonly string[] {
  const remaining = new Set(left.map(({ text }) => text));
  const remedy = ({ key, text }: Difference) =>
    key ?? (remaining.has(text) ? "no key and no patch does" : "the patches below");
  return configs.flatMap((difference) => [
    `${difference.nodes.join(", ")}: ${difference.text}${difference.reboots ? "  [reboot]" : ""}`,
    `  to keep it: ${remedy(difference)}`,
  ]);
}

function patchLines(environment: string, { patches, secretPatches }: KeepingPatches): readonly string[] {
  const title = `For sluice:patches in Pulumi.${environment}.yaml, to keep what runs:`;
  const secretTitle = `For secretPatches, with the nodes' own values in place of the masked ones: npm run pulumi -- config set --secret secretPatches --stack ${environment} < <file>`;
  return [
    ...(patches.length === 0 ? [] : ["", title, ...yamlLines(patches)]),
    ...(secretPatches.length === 0 ? [] : ["", secretTitle, ...yamlLines(secretPatches)]),
  ];
}

/** In the key's own indentation. Two equal values are written twice, because Talos does not read aliases in patches. */
function yamlLines(patches: readonly object[]): readonly string[] {
  const text = stringify({ config: { patches } }, { lineWidth: 0, aliasDuplicateObjects: false });
  return redact(text).trimEnd().split("\n").slice(2);
}
