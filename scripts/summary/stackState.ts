// What a stack's state tells of its cluster, however far `up` has come.
import type { GateName } from "../../components/gates/registry.ts";

/** A gate that has opened once. */
export interface OpenGate {
  readonly evidence: Readonly<Record<string, unknown>>;
  /** Seconds that it took. */
  readonly waited: number;
  readonly inputs: Readonly<Record<string, unknown>>;
  /** What a refresh found not to be so any more. */
  readonly drift: readonly string[];
}

/** A node as it was seen when its config was sent. */
export interface ConfiguredNode {
  readonly endpoint: string;
  readonly talos: string;
  /** How many tries its config took then. */
  readonly attempts: number;
  /** Why the last of those that failed did: a code of the catalogue. */
  readonly lastError: string;
}

export interface StackState {
  readonly gates: ReadonlyMap<string, OpenGate>;
  /** By the node's name. */
  readonly nodes: ReadonlyMap<string, ConfiguredNode>;
  /** Kubelets' versions by the node's name. */
  readonly kubelets: Readonly<Record<string, unknown>>;
  readonly outputs: Readonly<Record<string, unknown>>;
}

const gateType = "pulumi-nodejs:dynamic/gates:";
const nodeType = "pulumi-nodejs:dynamic/talos:NodeConfiguration";

/** Of what `pulumi stack export` prints. What is secret there is encrypted, and none of it is looked at. */
export function readStackState(exported: unknown): StackState {
  const all = resourcesIn(exported).map(({ type, outputs }) => ({ type: text(type), outputs: record(outputs) }));
  const outputsOf = (type: string) => all.filter((one) => one.type === type).map(({ outputs }) => outputs);
  const gates = new Map(
    all
      .filter(({ type }) => type.startsWith(gateType))
      .map(({ type, outputs }): [string, OpenGate] => [type.slice(gateType.length), openGate(outputs)]),
  );
  const nodes = outputsOf(nodeType).map(
    ({ node, endpoint, version, attempts, lastError }): [string, ConfiguredNode] => [
      text(node),
      {
        ...{ endpoint: text(endpoint), talos: text(version), lastError: text(lastError) },
        attempts: typeof attempts === "number" ? attempts : 1,
      },
    ],
  );
  const ready: GateName = "NodesReady";
  return {
    gates,
    nodes: new Map(nodes),
    kubelets: record(gates.get(ready)?.evidence.kubelets),
    outputs: outputsOf("pulumi:pulumi:Stack")[0] ?? {},
  };
}

function openGate({ evidence, waited, inputs, drift }: Readonly<Record<string, unknown>>): OpenGate {
  return {
    evidence: record(evidence),
    waited: typeof waited === "number" ? waited : 0,
    inputs: record(inputs),
    drift: Array.isArray(drift) ? drift.map(String) : [],
  };
}

/** Of what `pulumi stack export` prints. */
export function resourcesIn(exported: unknown): readonly Readonly<Record<string, unknown>>[] {
  const { resources } = record(record(exported).deployment);
  return Array.isArray(resources) ? resources.map(record) : [];
}

/** A mapping as it is; anything else is an empty one. */
export function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

/** A text as it is; anything else is an empty one. */
export function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}
