// The inputs about nodes of the gates on Talos, and what these gates observe of each.
import type { MachineIdentity } from "../../model/machine.ts";
import type { Role } from "../../model/role.ts";
import type { NodeState } from "../../talos/client/nodeState.ts";
import type { ResourceType, TalosClient, TalosCredentials } from "../../talos/client/talosClient.ts";

/** A node, as gates get it. */
export interface GateNode extends MachineIdentity {
  readonly name: string;
  readonly role: Role;
  /** Where it is reached from this host. */
  readonly talosAddress: string;
  /** Its address in the node network. */
  readonly address: string;
}

/** The inputs of every gate on Talos. */
export interface TalosGateInputs<Node extends GateNode = GateNode> {
  readonly nodes: readonly Node[];
  readonly credentials: TalosCredentials;
}

/** What was observed of one node. */
export interface NodeView<Facts, Node extends GateNode = GateNode> {
  readonly node: Node;
  /** Consecutive probes without an answer as ours. */
  readonly tries: number;
  /** Undefined until the first probe has ended. */
  readonly state?: NodeState;
  /** What was read, while the node answers. */
  readonly facts?: Facts;
  /** The error that it answered with. */
  readonly problem?: string;
}

export interface Reading<Facts> {
  /** Resource types whose changes trigger another reading. */
  readonly follow: readonly ResourceType[];
  /** Milliseconds after which it is read in any case: finds what has no watch, and a connection that broke silently. */
  readonly intervalMs: number;
  read(
    client: TalosClient,
    options: { readonly signal: AbortSignal; readonly deadlineSeconds: number },
  ): Promise<Facts>;
}
