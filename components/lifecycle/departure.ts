// A node leaves its cluster, in an order that loses nothing. Each step first checks whether it is already done.

import { SluiceError } from "../errors/sluiceError.ts";
import type { KubernetesObjects } from "../kubernetes/kubernetesObjects.ts";
import type { KubernetesNode } from "../kubernetes/objects.ts";
import type { MachineIdentity } from "../model/machine.ts";
import type { Peer } from "../model/peer.ts";
import type { Role } from "../model/role.ts";
import { type NodeContext, using } from "../talos/access/nodeAccess.ts";
import { identityFault } from "../talos/access/nodeResources.ts";
import type { NodeState } from "../talos/client/nodeState.ts";
import type { TalosCredentials } from "../talos/client/talosClient.ts";
import { EtcdMembers } from "../talos/etcd/etcdMembers.ts";
import { administratorAccess, asAdministrator } from "../talos/etcd/kubernetesAccess.ts";
import { cordon, drain } from "./drain.ts";
import { lastingState, resetMachine } from "./resetMachine.ts";

/** A node of the cluster. */
export interface Member extends Peer {
  readonly role: Role;
  /** What identifies the machine; no other machine is wiped. */
  readonly identity: MachineIdentity;
}

export interface DepartureOptions {
  /** All nodes that stay. */
  readonly staying: readonly Member[];
  /** The nodes that leave later: until then they are members of etcd and count. */
  readonly later: readonly Member[];
  readonly credentials: TalosCredentials;
  /** Seconds for the pods to leave. */
  readonly drainDeadlineSeconds: number;
  /** Seconds for each other step. */
  readonly deadlineSeconds: number;
}

/** Removes one node. Returns what was done, for the diagnostics. */
export class Departure {
  private readonly leaving: Member;
  private readonly options: DepartureOptions;
  private readonly context: NodeContext;
  private readonly etcd: EtcdMembers;
  private readonly controlPlanes: readonly Member[];
  /** Another node has its address: the machine stays, under a new name. */
  private readonly isRenamed: boolean;

  constructor(leaving: Member, options: DepartureOptions, context: NodeContext) {
    this.leaving = leaving;
    this.options = options;
    this.context = context;
    this.controlPlanes = options.staying.filter(({ role }) => role === "controlplane");
    // Nodes that stay are asked first.
    const asked = [...options.later, leaving].filter(({ role }) => role === "controlplane");
    this.etcd = new EtcdMembers([...this.controlPlanes, ...asked], options.credentials, context);
    this.isRenamed = options.staying.some(
      ({ talosAddress, address }) => talosAddress === leaving.talosAddress || address === leaving.address,
    );
  }

  async run(): Promise<string> {
    const { name: node, role } = this.leaving;
    const machine = { ...this.leaving, credentials: this.options.credentials };
    const state = this.isRenamed ? undefined : await lastingState(machine, this.context);
    const isOurs = state?.kind === "ours";
    if (isOurs) await this.checkIdentity();
    const path = `/api/v1/nodes/${node}`;

    if (isOurs && (await this.kubernetes((objects) => objects.get<KubernetesNode>(path))) !== undefined) {
      this.context.report(`${node}: is cordoned`);
      await this.kubernetes((_, kubeconfig) => cordon({ kubeconfig, node }, this.context.clock));
      await this.drained(await this.access());
    }
    if (role === "controlplane" && !this.isRenamed) await this.leaveEtcd(isOurs);
    const end = isOurs ? await resetMachine(machine, this.context, this.until()) : undefined;
    if (end === "ours")
      throw new SluiceError({
        code: "SLU-L103",
        seen: `it was sent the reset call, but still runs unchanged ${this.options.deadlineSeconds} s later`,
      });
    this.context.report(`${node}: is deleted in Kubernetes`);
    await this.kubernetes((objects) => objects.remove(path));
    return outcome(node, state, end);
  }

  private async kubernetes<T>(call: (objects: KubernetesObjects, kubeconfig: string) => Promise<T>): Promise<T> {
    const { leaving, options, controlPlanes: peers } = this;
    const report = (text: string) => this.context.report(`${leaving.name}: ${text}`);
    const { credentials } = options;
    const access = { peers, credentials, late: "SLU-L103", until: this.until() } as const;
    return await asAdministrator(call, access, { ...this.context, report });
  }

  private async checkIdentity(): Promise<void> {
    const { talosAddress, identity } = this.leaving;
    const { access } = this.context;
    const fault = await using(access.configured(talosAddress, this.options.credentials), (client) =>
      identityFault(client, identity),
    );
    if (fault !== undefined) throw new SluiceError({ code: "SLU-T302", seen: fault });
  }

  private async access(): Promise<string> {
    return await administratorAccess(this.controlPlanes, this.options.credentials, this.context, this.until());
  }

  private async drained(kubeconfig: string): Promise<void> {
    const { clock, report } = this.context;
    const until = clock.now() + this.options.drainDeadlineSeconds * 1000;
    await drain({ kubeconfig, node: this.leaving.name, until, report }, clock);
  }

  private async leaveEtcd(isOurs: boolean): Promise<void> {
    const member = await this.etcd.memberOf(this.leaving);
    if (member === undefined) return;
    if (isOurs) await this.etcd.leave(this.leaving, member);
    else await this.etcd.expel(member);
    await new EtcdMembers(this.controlPlanes, this.options.credentials, this.context).waitUntilGone(
      this.leaving,
      this.until(),
    );
  }

  private until(): number {
    return this.context.clock.now() + this.options.deadlineSeconds * 1000;
  }
}

function outcome(node: string, state: NodeState | undefined, end: NodeState["kind"] | undefined): string {
  switch (state?.kind) {
    case undefined:
      return `${node} was renamed: its machine was not changed`;
    case "ours":
      return end === "maintenance"
        ? `${node} has left: drained, reset, and deleted in Kubernetes`
        : `${node} has left: drained, sent the reset call, and deleted in Kubernetes. Its machine went down for that and was not seen in maintenance: without its config it may have another address`;
    case "maintenance":
      return `${node} has left: it was reset already, and is deleted in Kubernetes`;
    case "foreign":
      return `${node} has left: deleted in Kubernetes. At its address is a machine of another cluster, which was not touched`;
    case "settling":
      return `${node} has left: deleted in Kubernetes. Its machine did not come up (stage ${state.stage}) and was NOT reset: it still has its config`;
    case "invalid":
    case "unreachable":
      return `${node} has left: deleted in Kubernetes. Its machine does not answer (${state.why}) and was NOT reset: if it comes back, it still has its config`;
  }
}
