// Whether a living cluster bears what is to become of the machines of its control planes.
import { inWords, type MachineChange } from "../machines/machineChange.ts";
import type { TalosCredentials } from "../talos/client/talosClient.ts";
import { lookAtEtcd } from "../talos/etcdVoices.ts";
import type { World } from "../talos/nodeAccess.ts";
import { asFailure, NodeFailure } from "../talos/nodeFailure.ts";
import { type Look, repeat } from "../talos/repeat.ts";
import { EtcdMembers } from "./etcdMembers.ts";
import type { Peer } from "./kubernetesAccess.ts";
import { lossOfQuorum, lossWhileAway } from "./quorum.ts";

export class ChangeProof {
  /** All control planes that have a machine. */
  private readonly peers: readonly Peer[];
  private readonly credentials: TalosCredentials;
  private readonly world: World;

  constructor(peers: readonly Peer[], credentials: TalosCredentials, world: World) {
    this.peers = peers;
    this.credentials = credentials;
    this.world = world;
  }

  /** Resolves when the changes of control planes may be made. Where etcd was never started there is nothing to lose. */
  async bears(changes: readonly MachineChange[], until: number): Promise<void> {
    const [only] = changes;
    const isAlone = changes.length === 1 && this.peers.length === 1;
    // Alone it takes etcd along and brings it back, whatever it is like.
    if (only === undefined || this.peers.length === 0 || (isAlone && only.effect === "off")) return;
    this.world.report("looks whether etcd bears it");
    const isLiving = await repeat(() => this.isLiving(), { ...this.world, until: () => until });
    if (!isLiving) return;
    if (changes.length > 1) {
      throw new NodeFailure("SLU-L104", `${changes.map(inWords).join("; ")}. Nothing was changed`);
    }
    await repeat(() => this.proof(only), { ...this.world, until: () => until });
  }

  private async isLiving(): Promise<Look<boolean>> {
    const looks = await Promise.all(this.peers.map((peer) => lookAtEtcd(peer, this.credentials, this.world)));
    if (looks.some(({ kind }) => kind === "there")) return { found: true };
    const unknown = looks.flatMap((look) => (look.kind === "unknown" ? [look.why] : []));
    if (unknown.length === 0) return { found: false };
    const seen = `whether etcd runs is not known: ${unknown.join("; ")}. Nothing was changed`;
    return { late: new NodeFailure("SLU-L101", seen) };
  }

  private async proof({ node, effect }: MachineChange): Promise<Look<true>> {
    const etcd = new EtcdMembers(this.peers, this.credentials, this.world);
    const address = this.peers.find((peer) => peer.node === node)?.address ?? "";
    try {
      const own = await etcd.of({ node, address });
      if (own === undefined || own.learner) return { found: true };
      const voters = await etcd.voters();
      // One that is made anew is away first, and then taken out.
      const gone = effect === "anew" ? lossOfQuorum(voters, own.id) : undefined;
      const loss = gone ?? lossWhileAway(voters, own.id);
      if (loss === undefined) return { found: true };
      const refused = new NodeFailure("SLU-L101", `without ${node}: ${loss}. Nothing was changed`);
      if (voters.length === 1) throw refused;
      // A member that is not well may be on its way: the one that was changed in the run before, most often.
      this.world.report(refused.seen);
      return { late: refused };
    } catch (error) {
      if (error instanceof NodeFailure && error.code === "SLU-L101") throw error;
      return { late: asFailure(error, "SLU-T321") };
    }
  }
}
