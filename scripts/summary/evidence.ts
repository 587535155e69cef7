// What a gate saw, in a few words.
import type { GateName } from "../../components/gates/registry.ts";
import { record, text } from "./stackState.ts";

type Evidence = Readonly<Record<string, unknown>>;

const phrases: Readonly<Record<GateName, (saw: Evidence) => string>> = {
  Preflight: ({ machines }) => `${many(keys(machines), "machine")}, each the one meant`,
  Stages: ({ nodes }) => `${many(list(nodes), "node")} with their configs`,
  Etcd: ({ members }) => `${many(list(members), "voting member")}, no alarm`,
  TalosServices: ({ services }) => {
    const nodes = Object.values(record(services));
    return `${many(
      nodes.flatMap((names) => text(names).split(" ")),
      "service",
    )} healthy on ${many(nodes, "node")}`;
  },
  VirtualAddress: ({ address, controlPlanes }) => `${text(address)} is up, shared by ${list(controlPlanes).join(", ")}`,
  KubernetesApi: ({ server }) => `ready at ${text(server)}`,
  NodesJoined: ({ machines }) => `${many(keys(machines), "node")}, each the machine meant`,
  CiliumReady: ({ nodes, images }) => `Cilium ${versions(images)} on ${many(list(nodes), "node")}`,
  NodesReady: ({ kubelets }) =>
    `${many(keys(kubelets), "node")} Ready, kubelet ${distinct(Object.values(record(kubelets)))}`,
  CsiReady: ({ drivers, nodes, volume }) =>
    `${distinct(list(drivers))} on ${many(list(nodes), "node")}${volume === undefined ? "" : ", a volume mounted"}`,
  SealedSecretsReady: ({ images, certificate }) =>
    `version ${versions(images)}, ${certificate === undefined ? "a key of its own" : `our key ${text(certificate).slice(0, 11)}…`}`,
  GitOpsReady: ({ revisions }) =>
    `${keys(revisions).join(", ")} at ${distinct(Object.values(record(revisions)).map(short))}`,
};

/** Nothing where this version does not know the gate. */
export function phraseOf(gate: string, saw: Evidence): string {
  return (phrases as Readonly<Record<string, (saw: Evidence) => string>>)[gate]?.(saw) ?? "";
}

/** A revision with as much of its hash as tells it from others: `main@sha1:9b0b4cb8`. */
export function short(revision: unknown): string {
  return text(revision).replace(/([0-9a-f]{8})[0-9a-f]{32,}$/, "$1");
}

/** The tags of images, each once. */
function versions(images: unknown): string {
  return distinct(Object.values(record(images)).map((image) => text(image).replace(/@.*$/, "").split(":").at(-1)));
}

function distinct(values: readonly unknown[]): string {
  return [...new Set(values.map(text))].join(", ");
}

function many(all: readonly unknown[], what: string): string {
  return `${all.length} ${what}${all.length === 1 ? "" : "s"}`;
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function keys(value: unknown): readonly string[] {
  return Object.keys(record(value));
}
