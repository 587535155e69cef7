// Every gate, by its name in the graph. Each is loaded when it is waited at: the program itself only names them.
import type { GateDefinition } from "./gateDefinition.ts";

const gates = {
  Preflight: async () => (await import("./preflight.ts")).preflight,
  Stages: async () => (await import("./stages.ts")).stages,
  Etcd: async () => (await import("./etcd.ts")).etcd,
  TalosServices: async () => (await import("./talosServices.ts")).talosServices,
  VirtualAddress: async () => (await import("./virtualAddress.ts")).virtualAddress,
  KubernetesApi: async () => (await import("./kubernetesApi.ts")).kubernetesApi,
  NodesJoined: async () => (await import("./nodesJoined.ts")).nodesJoined,
  CiliumReady: async () => (await import("./ciliumReady.ts")).ciliumReady,
  NodesReady: async () => (await import("./nodesReady.ts")).nodesReady,
  CsiReady: async () => (await import("./csiReady.ts")).csiReady,
  SealedSecretsReady: async () => (await import("./sealedSecretsReady.ts")).sealedSecretsReady,
  GitOpsReady: async () => (await import("./gitOpsReady.ts")).gitOpsReady,
};

export type GateName = keyof typeof gates;

/** What a gate is told: what it looks at, and what must be so. */
export type GateInputs<Name extends GateName> =
  Awaited<ReturnType<(typeof gates)[Name]>> extends GateDefinition<infer Inputs, infer _> ? Inputs : never;

/** In the order of the chain. */
export const gateNames = Object.keys(gates) as readonly GateName[];

/** The gate of that name, as one whose inputs and observations are nobody else's matter. */
export async function findGate(name: string): Promise<GateDefinition<unknown, unknown>> {
  const load = (gates as Readonly<Record<string, () => Promise<GateDefinition<unknown, unknown>>>>)[name];
  if (load === undefined) throw new Error(`there is no gate ${name}`);
  return load();
}
