// The operations of a ConfigContract. They call nothing: it is a record in the state.
import type { ResourceInputs } from "../../engine/checkoutResource.ts";
import { isUnknown } from "../../engine/isUnknown.ts";
import type { ResourceContext } from "../../engine/resourceContext.ts";
import { engineCalls, type ResourceOperations } from "../../engine/resourceProvider.ts";
import type { ConfigContractArgs } from "./configContract.ts";

export type ContractInputs = ResourceInputs<ConfigContractArgs>;

export const operations = {
  id: () => "contract",

  create: async (inputs) => inputs,

  difference: (olds, news) => ({ kind: olds.contract === news.contract ? "none" : "update" }),

  notes(olds, { contract }) {
    if (isUnknown(contract) || olds.contract === contract) return [];
    const text = `the contract of the machine configs changes from ${olds.contract} to ${contract}: all that follows from it is listed below, for each node`;
    return [{ text, as: "info" }];
  },

  outcome: ({ contract }) => `machine configs are of contract ${contract}`,
} satisfies ResourceOperations<ContractInputs, ContractInputs, ResourceContext>;

export const { create, read, diff, update, remove } = engineCalls<ContractInputs, ContractInputs, ResourceContext>(
  operations,
  (context) => context,
);
