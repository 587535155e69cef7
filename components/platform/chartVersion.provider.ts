// The operations of a ChartVersion.
import type { ResourceInputs } from "../engine/checkoutResource.ts";
import type { ResourceContext } from "../engine/resourceContext.ts";
import { engineCalls, type Note, type ResourceOperations } from "../engine/resourceProvider.ts";
import { SluiceError } from "../errors/sluiceError.ts";
import { chartStep } from "./chartStep.ts";
import type { ChartVersionArgs } from "./chartVersion.ts";

type State = ResourceInputs<ChartVersionArgs>;

export const operations = {
  id: ({ chart }) => chart,

  create: async (inputs) => inputs,

  difference: ({ version }, news) => ({ kind: version === news.version ? "none" : "record" }),

  refusal({ version: before }, { chart, key, version }) {
    const { first } = chartStep(before, version);
    if (first === undefined) return undefined;
    return new SluiceError({
      code: "SLU-K202",
      where: chart,
      seen: `it is ${before}, and would be ${version}`,
      remedy: `Go there one minor version at a time: set ${key} to a release of ${first}, run \`npm run up -- <environment>\`, and so on until ${version}.`,
    });
  },

  notes: (olds, news) => defaults(olds, news),
} satisfies ResourceOperations<State, State, ResourceContext>;

export const { create, read, diff, update, remove } = engineCalls<State, State, ResourceContext>(
  operations,
  (context) => context,
);

/** Another minor version has other defaults, also for a cluster that exists. */
function defaults({ version: before }: State, { chart, key, version, upgradeCompatibility }: State): readonly Note[] {
  const { from, to } = chartStep(before, version);
  if (from === to) return [];
  const step = `${chart} ${before} -> ${version}`;
  if (upgradeCompatibility !== undefined) {
    return [{ text: `${step}, with the defaults of ${upgradeCompatibility}`, as: "row" }];
  }
  const value = key.replace(/version$/, "values.upgradeCompatibility");
  return [
    { text: `${step}: defaults become those of ${to}; to keep those of ${from}, set ${value}: "${from}"`, as: "info" },
  ];
}
