// Proves that the etcd of a running cluster keeps its quorum when machines of its control planes change.

import { SluiceError } from "../errors/sluiceError.ts";
import type { Peer } from "../model/peer.ts";
import type { NodeContext } from "../talos/access/nodeAccess.ts";
import { asFailure } from "../talos/access/nodeFailure.ts";
import type { TalosCredentials } from "../talos/client/talosClient.ts";
import { EtcdMembers } from "../talos/etcd/etcdMembers.ts";
import { lookAtEtcd } from "../talos/etcd/etcdPresence.ts";
import { lossOfQuorum, lossWhileAway } from "../talos/etcd/quorum.ts";
import { type Polled, poll } from "../waiting/poll.ts";
import { inWords, type MachineChange } from "./changePlan.ts";

export class ChangeProof {
  /** All control planes that have a machine. */
  private readonly peers: readonly Peer[];
  private readonly credentials: TalosCredentials;
  private readonly context: NodeContext;

  constructor(peers: readonly Peer[], credentials: TalosCredentials, context: NodeContext) {
    this.peers = peers;
    this.credentials = credentials;
    this.context = context;
  }

  /** Resolves when the control planes may be changed, with whether there is an etcd: if it was never started, there is nothing to lose. */
  async refuseLossOfQuorum(changes: readonly MachineChange[], until: number): Promise<{ readonly isLiving: boolean }> {
    const [only] = changes;
    const isAlone = changes.length === 1 && this.peers.length === 1;
    if (only === undefined || this.peers.length === 0) return { isLiving: false };
    this.context.report("checks whether etcd keeps its quorum");
    // The only control plane takes etcd down and brings it back, healthy or not.
    if (isAlone && only.effect === "off") {
      const look = await this.isLiving();
      return { isLiving: "found" in look && look.found };
    }
    const isLiving = await poll(() => this.isLiving(), { ...this.context, until: () => until });
    if (!isLiving) return { isLiving };
    if (changes.length > 1) {
      throw new SluiceError({ code: "SLU-L104", seen: `${changes.map(inWords).join("; ")}. Nothing was changed` });
    }
    await poll(() => this.proof(only), { ...this.context, until: () => until });
    return { isLiving };
  }

  private async isLiving(): Promise<Polled<boolean>> {
    const looks = await Promise.all(this.peers.map((peer) => lookAtEtcd(peer, this.credentials, this.context)));
    if (looks.some(({ kind }) => kind === "there")) return { found: true };
    const unknown = looks.flatMap((look) => (look.kind === "unknown" ? [look.why] : []));
    if (unknown.length === 0) return { found: false };
    const seen = `it is unknown whether etcd runs: ${unknown.join("; ")}. Nothing was changed`;
    return { late: new SluiceError({ code: "SLU-L101", seen }) };
  }

  private async proof({ node, effect }: MachineChange): Promise<Polled<true>> {
    const etcd = new EtcdMembers(this.peers, this.credentials, this.context);
    const address = this.peers.find(({ name }) => name === node)?.address ?? "";
    try {
      const own = await etcd.memberOf({ name: node, address });
      if (own === undefined || own.learner) return { found: true };
      const voters = await etcd.voters();
      // The member of a recreated machine is first down, and then removed.
      const gone = effect === "recreate" ? lossOfQuorum(voters, own.id) : undefined;
      const loss = gone ?? lossWhileAway(voters, own.id);
      if (loss === undefined) return { found: true };
      const refused = new SluiceError({ code: "SLU-L101", seen: `without ${node}: ${loss}. Nothing was changed` });
      if (voters.length === 1) throw refused;
      // An unhealthy member may be about to recover: it is often the one that the last run changed.
      this.context.report(refused.seen);
      return { late: refused };
    } catch (error) {
      if (error instanceof SluiceError && error.code === "SLU-L101") throw error;
      return { late: asFailure(error, "SLU-T321") };
    }
  }
}
