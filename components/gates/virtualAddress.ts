import { list, text } from "../model/untyped.ts";
import type { Condition, Verdict } from "../waiting/condition.ts";
import type { ClusterFacts, VirtualAddressFacts } from "./clusterFacts.ts";
import type { GateDefinition } from "./gateDefinition.ts";
import { lazily } from "./lazily.ts";
import type { VirtualAddressInputs, VirtualAddressObservation } from "./talos/watchVirtualAddress.ts";

type Facts = Pick<ClusterFacts, "controlPlanes" | "talos" | "kubeconfig" | "ground"> & {
  readonly virtualAddress: VirtualAddressFacts;
};

/** One control plane holds the shared address, and what answers there is this cluster (S4.4). */
export const virtualAddress: GateDefinition<VirtualAddressInputs, VirtualAddressObservation, Facts> = {
  name: "VirtualAddress",
  timeoutCode: "SLU-K106",
  resource: "virtual-address",
  proves: "the VIP answers as this cluster, if there is one",
  opensWhen:
    "(with `network.vip`) whatever answers there has a certificate of this cluster, and at most one control plane holds the address",
  timeout: { key: "vip", seconds: 180 },
  canFlap: true,
  part: "virtualAddress",
  inputs: ({ virtualAddress: { address, port, by }, controlPlanes }) => ({ address, port, by, nodes: controlPlanes }),
  credentials: ({ talos, kubeconfig }) => ({ talos, kubeconfig }),
  triggers: ({ virtualAddress, ground }) => [...virtualAddress.triggers, ...ground],
  conditions: (inputs) => [answersAsOurs(inputs), oneHolder(inputs)],
  observe: (inputs, signal, clock) =>
    lazily(async () => (await import("./talos/watchVirtualAddress.ts")).watchVirtualAddress(inputs, signal, clock)),
  evidence: ({ address, views }) => ({ address, controlPlanes: views.map(({ node }) => node.name) }),
  words: ({ address, controlPlanes }) =>
    `${text(address)} is up, shared by ${list(controlPlanes).map(text).join(", ")}`,
};

function answersAsOurs({ address, by }: VirtualAddressInputs): Condition<VirtualAddressObservation> {
  const pending = { kind: "pending", where: address } as const;
  return {
    phrase: "the virtual address to answer with a certificate of this cluster",
    evaluate({ answer, views }): readonly Verdict[] {
      if (answer === undefined) return [{ ...pending, reason: "was not probed yet", unseen: true }];
      if (answer.kind === "ours") return [];
      const reason = `${answer.why}; ${holding(views, address, by)}`;
      if (answer.kind === "foreign") return [{ kind: "failed", where: address, reason, code: "SLU-K107" }];
      if (answer.kind === "none" || !answer.isName) return [{ ...pending, reason }];
      const remedy = "Run `npm run up` again: the configs it sends name the address for the API server's certificate.";
      return [{ kind: "failed", where: address, reason, code: "SLU-K102", remedy }];
    },
  };
}

/** If two hold it, their neighbours disagree about where it is. */
function oneHolder({ address }: VirtualAddressInputs): Condition<VirtualAddressObservation> {
  return {
    phrase: "at most one control plane to hold the virtual address",
    evaluate({ views }) {
      const holders = views.filter(({ facts }) => facts?.includes(address)).map(({ node }) => node.name);
      return holders.length < 2
        ? []
        : [{ kind: "pending", where: address, reason: `${holders.join(" and ")} hold it` }];
    },
  };
}

/** Which control plane holds it, as the nodes report: this shows where to search for the cause. */
function holding(views: VirtualAddressObservation["views"], address: string, by: string): string {
  const names = (some: VirtualAddressObservation["views"]) => some.map(({ node }) => node.name).join(", ");
  const holders = views.filter(({ facts }) => facts?.includes(address));
  if (holders.length > 0) return `${names(holders)} has the address, by ${by}`;
  const silent = views.filter(({ facts }) => facts === undefined);
  const unknown = silent.length === 0 ? "" : ` (unknown for ${names(silent)})`;
  return `no control plane has the address: ${by} has brought it up on none of ${names(views)}${unknown}`;
}
