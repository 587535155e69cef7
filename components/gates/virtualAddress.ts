import type { Condition, GateDefinition, Verdict } from "./gateDefinition.ts";
import { type VirtualAddressInputs, type VirtualAddressLook, watchVirtualAddress } from "./watchVirtualAddress.ts";

/** The address that the control planes share is up on one of them, and who answers there is this cluster (S4.4). */
export const virtualAddress: GateDefinition<VirtualAddressInputs, VirtualAddressLook> = {
  name: "VirtualAddress",
  timeoutCode: "SLU-K106",
  conditions: (inputs) => [answersAsOurs(inputs), oneHolder(inputs)],
  observe: watchVirtualAddress,
  evidence: ({ address, views }) => ({ address, controlPlanes: views.map(({ node }) => node.name) }),
};

function answersAsOurs({ address, by }: VirtualAddressInputs): Condition<VirtualAddressLook> {
  const pending = { kind: "pending", where: address } as const;
  return {
    phrase: "the virtual address to answer with a certificate of this cluster",
    evaluate({ answer, views }): readonly Verdict[] {
      if (answer === undefined) return [{ ...pending, reason: "was not asked yet", unseen: true }];
      if (answer.kind === "ours") return [];
      const reason = `${answer.why}; ${holding(views, address, by)}`;
      if (answer.kind === "foreign") return [{ kind: "failed", where: address, reason, code: "SLU-K107" }];
      if (answer.kind === "none" || !answer.isName) return [{ ...pending, reason }];
      const remedy = "Run `npm run up` again: the configs it sends name the address for the API server's certificate.";
      return [{ kind: "failed", where: address, reason, code: "SLU-K102", remedy }];
    },
  };
}

/** Where two have it, each of their neighbours believes another one. */
function oneHolder({ address }: VirtualAddressInputs): Condition<VirtualAddressLook> {
  return {
    phrase: "no more than one control plane to have the virtual address",
    evaluate({ views }) {
      const holders = views.filter(({ facts }) => facts?.includes(address)).map(({ node }) => node.name);
      return holders.length < 2
        ? []
        : [{ kind: "pending", where: address, reason: `${holders.join(" and ")} have it` }];
    },
  };
}

/** Which control plane has it, as they say themselves: from that follows what to look for. */
function holding(views: VirtualAddressLook["views"], address: string, by: string): string {
  const names = (some: VirtualAddressLook["views"]) => some.map(({ node }) => node.name).join(", ");
  const holders = views.filter(({ facts }) => facts?.includes(address));
  if (holders.length > 0) return `${names(holders)} has the address, by ${by}`;
  const silent = views.filter(({ facts }) => facts === undefined);
  const unknown = silent.length === 0 ? "" : ` (of ${names(silent)} it is not known)`;
  return `no control plane has the address: ${by} has brought it up on none of ${names(views)}${unknown}`;
}
