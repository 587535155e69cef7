// Waits for the stability windows that no later gate has waited for.
import { isDeepStrictEqual } from "node:util";
import type { ResourceInputs } from "../engine/checkoutResource.ts";
import type { ResourceContext } from "../engine/resourceContext.ts";
import { engineCalls, type ResourceOperations } from "../engine/resourceProvider.ts";
import { type OpenGates, openGates, proveAll } from "./openGates.ts";
import type { StableGatesArgs } from "./stableGates.ts";

type Inputs = ResourceInputs<StableGatesArgs>;

interface State extends Inputs {
  readonly proved: readonly string[];
}

export const operations = {
  id: () => "stable",

  async create(inputs, { clock, report, onWait, gates }) {
    const began = clock.now();
    const unproven = gates.unproven(() => true);
    const stableSeconds = await proveAll(unproven, report, () => clock.now());
    onWait?.({ began, held: began, opened: clock.now(), stableSeconds });
    return { ...inputs, proved: [...unproven.keys()] };
  },

  difference: ({ openings }, news) => ({ kind: isDeepStrictEqual(openings, news.openings) ? "none" : "update" }),

  outcome: () => "every gate has stayed open for its stability window",

  endsWhenInterrupted: true,
} satisfies ResourceOperations<Inputs, State, ResourceContext & { readonly gates: OpenGates }>;

const calls = engineCalls<Inputs, State, ResourceContext & { readonly gates: OpenGates }>(operations, (context) => ({
  ...context,
  gates: openGates,
}));
export const { create, read, update, remove } = calls;

/** Its proofs count in every run. */
export const diff: typeof calls.diff = (id, olds, news) => {
  openGates.recordProof(olds.proved);
  return calls.diff(id, olds, news);
};
