// A node leaves its cluster: in an order in which nothing is lost, and looking first what is done already.
import type { KubernetesNode } from "../kubernetes/objects.ts";
import type { MachineIdentity } from "../machines/machine.ts";
import type { Role } from "../machines/node.ts";
import type { NodeState } from "../talos/client/nodeState.ts";
import type { TalosCredentials } from "../talos/client/talosClient.ts";
import { using, type World } from "../talos/nodeAccess.ts";
import { asFailure, NodeFailure } from "../talos/nodeFailure.ts";
import { identityFault } from "../talos/nodeResources.ts";
import { repeat } from "../talos/repeat.ts";
import { cordon, drain } from "./drain.ts";
import { EtcdMembers } from "./etcdMembers.ts";
import { administratorAccess, KubernetesObjects, type Peer } from "./kubernetesAccess.ts";
import { lastingState, resetMachine } from "./resetMachine.ts";

/** A node of the cluster. */
export interface Member extends Peer {
  readonly role: Role;
  /** What the machine must be; nothing is wiped on another one. */
  readonly identity: MachineIdentity;
}

export interface DepartureOptions {
  /** All that stay. */
  readonly staying: readonly Member[];
  /** Those that leave later: until then they are members of etcd and count. */
  readonly later: readonly Member[];
  readonly credentials: TalosCredentials;
  /** Seconds for the pods to leave. */
  readonly drainDeadline: number;
  /** Seconds for each other step. */
  readonly deadline: number;
}

/** Takes one node out. Says in the end what was done, for good. */
export class Departure {
  private readonly leaving: Member;
  private readonly options: DepartureOptions;
  private readonly world: World;
  private readonly etcd: EtcdMembers;
  private readonly controlPlanes: readonly Member[];
  /** Another node has its address: the machine stays, under another name. */
  private readonly isRenamed: boolean;

  constructor(leaving: Member, options: DepartureOptions, world: World) {
    this.leaving = leaving;
    this.options = options;
    this.world = world;
    this.controlPlanes = options.staying.filter(({ role }) => role === "controlplane");
    // Those that stay are asked first.
    const asked = [...options.later, leaving].filter(({ role }) => role === "controlplane");
    this.etcd = new EtcdMembers([...this.controlPlanes, ...asked], options.credentials, world);
    this.isRenamed = options.staying.some(
      ({ endpoint, address }) => endpoint === leaving.endpoint || address === leaving.address,
    );
  }

  async run(): Promise<string> {
    const { node, role } = this.leaving;
    const machine = { ...this.leaving, credentials: this.options.credentials };
    const state = this.isRenamed ? undefined : await lastingState(machine, this.world);
    const isOurs = state?.kind === "ours";
    if (isOurs) await this.checkIdentity();
    const path = `/api/v1/nodes/${node}`;

    if (isOurs && (await this.kubernetes((objects) => objects.get<KubernetesNode>(path))) !== undefined) {
      this.world.report(`${node}: takes no more pods`);
      await this.kubernetes((_, kubeconfig) => cordon({ kubeconfig, node }, this.world.clock));
      await this.drained(await this.access());
    }
    if (role === "controlplane" && !this.isRenamed) await this.leaveEtcd(isOurs);
    const end = isOurs ? await resetMachine(machine, this.world, this.until()) : undefined;
    if (end === "ours")
      throw new NodeFailure("SLU-L103", `it was told to reset, and ${this.options.deadline} s later runs as before`);
    this.world.report(`${node}: is deleted in Kubernetes`);
    await this.kubernetes((objects) => objects.remove(path));
    return outcome(node, state, end);
  }

  /** A call that is made until it is answered: after a change of etcd's members API servers may be busy for a while, or another one is asked. */
  private async kubernetes<T>(call: (objects: KubernetesObjects, kubeconfig: string) => Promise<T>): Promise<T> {
    const until = this.until();
    const attempt = async () => {
      try {
        const kubeconfig = await this.access();
        return { found: await call(new KubernetesObjects(kubeconfig, this.world.clock), kubeconfig) };
      } catch (error) {
        const failure = asFailure(error, "SLU-L103");
        if (!failure.passing) throw failure;
        this.world.report(`${this.leaving.node}: ${failure.seen}; asks again`);
        return { late: failure };
      }
    };
    return await repeat(attempt, { ...this.world, until: () => until });
  }

  private async checkIdentity(): Promise<void> {
    const { endpoint, identity } = this.leaving;
    const { access } = this.world;
    const fault = await using(access.configured(endpoint, this.options.credentials), (client) =>
      identityFault(client, identity),
    );
    if (fault !== undefined) throw new NodeFailure("SLU-T302", fault);
  }

  private async access(): Promise<string> {
    return await administratorAccess(this.controlPlanes, this.options.credentials, this.world, this.until());
  }

  private async drained(kubeconfig: string): Promise<void> {
    const { clock, report } = this.world;
    const until = clock.now() + this.options.drainDeadline * 1000;
    await drain({ kubeconfig, node: this.leaving.node, until, report }, clock);
  }

  private async leaveEtcd(isOurs: boolean): Promise<void> {
    const member = await this.etcd.of(this.leaving);
    if (member === undefined) return;
    if (isOurs) await this.etcd.leave(this.leaving, member);
    else await this.etcd.expel(member);
    await new EtcdMembers(this.controlPlanes, this.options.credentials, this.world).gone(this.leaving, this.until());
  }

  private until(): number {
    return this.world.clock.now() + this.options.deadline * 1000;
  }
}

function outcome(node: string, state: NodeState | undefined, end: NodeState["kind"] | undefined): string {
  switch (state?.kind) {
    case undefined:
      return `${node} has another name now: its machine was left as it is`;
    case "ours":
      return end === "maintenance"
        ? `${node} has left: drained, reset, and deleted in Kubernetes`
        : `${node} has left: drained, told to reset, and deleted in Kubernetes. Its machine went down for that and was not seen in maintenance: without its config it may have another address`;
    case "maintenance":
      return `${node} has left: it was reset already, and is deleted in Kubernetes`;
    case "foreign":
      return `${node} has left: deleted in Kubernetes. At its address is a machine of another cluster, which was not touched`;
    case "settling":
      return `${node} has left: deleted in Kubernetes. Its machine did not come up (stage ${state.stage}) and was NOT reset: it has its config still`;
    case "invalid":
    case "unreachable":
      return `${node} has left: deleted in Kubernetes. Its machine does not answer (${state.why}) and was NOT reset: should it come back, it has its config still`;
  }
}
