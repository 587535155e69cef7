// What the gates on Talos are told of nodes, and what they know of each.
import type { MachineIdentity } from "../machines/machine.ts";
import type { Role } from "../machines/node.ts";
import type { NodeState } from "../talos/client/nodeState.ts";
import type { ResourceType, TalosClient, TalosCredentials } from "../talos/client/talosClient.ts";

/** A node as gates are told of it. */
export interface GateNode extends MachineIdentity {
  readonly name: string;
  readonly role: Role;
  /** Where it is reached from here. */
  readonly endpoint: string;
  /** Its address in the node network. */
  readonly address: string;
}

/** What every gate on Talos is told. */
export interface TalosGateInputs<Node extends GateNode = GateNode> {
  readonly nodes: readonly Node[];
  readonly credentials: TalosCredentials;
}

/** What is known of one node. */
export interface NodeView<Facts, Node extends GateNode = GateNode> {
  readonly node: Node;
  /** How often it was probed since it answered last. */
  readonly tries: number;
  /** Nothing before the first probe has ended. */
  readonly state?: NodeState;
  /** What was read of it, while it answers. */
  readonly facts?: Facts;
  /** Why it answers, but not with what was asked for. */
  readonly problem?: string;
}

export interface Reading<Facts> {
  /** Resources whose changes are a reason to read. */
  readonly follow: readonly ResourceType[];
  /** Milliseconds after which is read in any case: shows what has no watch, and a connection that is dead without a word. */
  readonly every: number;
  read(client: TalosClient, options: { readonly signal: AbortSignal; readonly deadline: number }): Promise<Facts>;
}
