// What a stack's state contains about its cluster, however far `up` got.
import { list, record, text } from "../../../components/model/untyped.ts";
import { resourcesIn } from "../../stack/exported.ts";

/** A gate that has opened at least once. */
export interface OpenGate {
  readonly evidence: Readonly<Record<string, unknown>>;
  /** How long it took. */
  readonly waitedSeconds: number;
  readonly inputs: Readonly<Record<string, unknown>>;
  /** Conditions that a refresh found to be no longer met. */
  readonly drift: readonly string[];
}

/** A node, as it was when its config was sent. */
export interface ConfiguredNode {
  readonly talosAddress: string;
  readonly talos: string;
  /** How many attempts its config took then. */
  readonly attempts: number;
  /** Why the last failed attempt failed: a code of the catalogue. */
  readonly lastError: string;
}

export interface StackState {
  readonly gates: ReadonlyMap<string, OpenGate>;
  /** By node name. */
  readonly nodes: ReadonlyMap<string, ConfiguredNode>;
  /** Kubelet versions by node name. */
  readonly kubelets: Readonly<Record<string, unknown>>;
  readonly outputs: Readonly<Record<string, unknown>>;
  /** By a resource's URN, the URNs of what it waited for: its dependencies, its provider, and those of its component. */
  readonly dependencies: ReadonlyMap<string, readonly string[]>;
}

const gateType = "pulumi-nodejs:dynamic/gates:";
/** The second is its type in a state that was not updated since. docs/decisions/provider-paths.md */
export const nodeTypes: readonly string[] = ["AppliedMachineConfig", "NodeConfiguration"].map(
  (name) => `pulumi-nodejs:dynamic/talos:${name}`,
);

/** Reads the output of `pulumi stack export`. Secrets are encrypted there, and none of them is read. */
export function readStackState(exported: unknown): StackState {
  const resources = resourcesIn(exported);
  const all = resources.map(({ type, outputs }) => ({ type: text(type), outputs: record(outputs) }));
  const outputsOf = (...types: readonly string[]) =>
    all.filter(({ type }) => types.includes(type)).map(({ outputs }) => outputs);
  const gates = new Map(
    all
      .filter(({ type }) => type.startsWith(gateType))
      .map(({ type, outputs }): [string, OpenGate] => [type.slice(gateType.length), openGate(outputs)]),
  );
  const nodes = outputsOf(...nodeTypes).map(
    ({ node, talosAddress, endpoint, version, attempts, lastError }): [string, ConfiguredNode] => [
      text(node),
      {
        talosAddress: text(talosAddress ?? endpoint),
        talos: text(version),
        lastError: text(lastError),
        attempts: typeof attempts === "number" ? attempts : 1,
      },
    ],
  );
  return {
    gates,
    nodes: new Map(nodes),
    kubelets: record(gates.get("NodesReady")?.evidence.kubelets),
    outputs: outputsOf("pulumi:pulumi:Stack")[0] ?? {},
    dependencies: dependenciesOf(resources),
  };
}

function dependenciesOf(resources: readonly Readonly<Record<string, unknown>>[]): StackState["dependencies"] {
  const byUrn = new Map(resources.flatMap((one) => (text(one.urn) === "" ? [] : [[text(one.urn), one] as const])));
  const waitsFor = (one: Readonly<Record<string, unknown>> | undefined): string[] => {
    if (one === undefined) return [];
    const provider = text(one.provider).split("::").slice(0, -1).join("::");
    return [...list(one.dependencies).map(text), provider, ...waitsFor(byUrn.get(text(one.parent)))].filter(Boolean);
  };
  return new Map([...byUrn].map(([urn, one]) => [urn, waitsFor(one)]));
}

function openGate({ evidence, waitedSeconds, waited, inputs, drift }: Readonly<Record<string, unknown>>): OpenGate {
  return {
    evidence: record(evidence),
    waitedSeconds: Number(waitedSeconds ?? waited ?? 0),
    inputs: record(inputs),
    drift: Array.isArray(drift) ? drift.map(String) : [],
  };
}
