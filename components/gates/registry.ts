// Every gate, in the order of the chain.
import { backupFresh } from "./backupFresh.ts";
import { ciliumReady } from "./ciliumReady.ts";
import { csiReady } from "./csiReady.ts";
import { etcd } from "./etcd.ts";
import type { AnyGate } from "./gateDefinition.ts";
import { gitOpsReady } from "./gitOpsReady.ts";
import { kubernetesApi } from "./kubernetesApi.ts";
import { nodesJoined } from "./nodesJoined.ts";
import { nodesReady } from "./nodesReady.ts";
import { preflight } from "./preflight.ts";
import { sealedSecretsReady } from "./sealedSecretsReady.ts";
import { stages } from "./stages.ts";
import { talosServices } from "./talosServices.ts";
import { virtualAddress } from "./virtualAddress.ts";

export const gates: readonly AnyGate[] = [
  preflight,
  stages,
  etcd,
  talosServices,
  virtualAddress,
  kubernetesApi,
  nodesJoined,
  ciliumReady,
  nodesReady,
  csiReady,
  sealedSecretsReady,
  gitOpsReady,
  backupFresh,
];

export const gateNames = gates.map(({ name }) => name);

/** Whether one gate comes before another in the chain. */
export function isBelow(one: string, other: string): boolean {
  return gateNames.indexOf(one) < gateNames.indexOf(other);
}

/** Undefined for a gate that this version does not know. */
export function findGate(name: string): AnyGate | undefined {
  return gates.find((gate) => gate.name === name);
}
