// Where an etcd snapshot can be taken from.
import { SluiceError } from "../errors/sluiceError.ts";
import type { Peer } from "../model/peer.ts";
import type { NodeContext } from "../talos/access/nodeAccess.ts";
import { asFailure } from "../talos/access/nodeFailure.ts";
import type { TalosCredentials } from "../talos/client/talosClient.ts";
import { memberIsAt } from "../talos/etcd/etcdMember.ts";
import { EtcdMembers } from "../talos/etcd/etcdMembers.ts";
import type { Clock } from "../waiting/clock.ts";
import type { Chunks } from "./ageFile.ts";

/** A control plane that can give a snapshot. */
export interface SnapshotSource {
  readonly node: string;
  /** Starts a new snapshot each time. */
  chunks(): Chunks;
}

/** Seconds without any data after which a snapshot counts as failed. */
const silenceSeconds = 30;

/** The control planes that are healthy voters of etcd. Rejects with SLU-B105 if there is none. */
export async function snapshotSources(
  controlPlanes: readonly Peer[],
  credentials: TalosCredentials,
  context: NodeContext,
): Promise<readonly SnapshotSource[]> {
  const { members, well } = await new EtcdMembers(controlPlanes, credentials, context).observe().catch((error) => {
    const { seen } = asFailure(error, "SLU-B105");
    throw new SluiceError({ code: "SLU-B105", seen, retryable: true, cause: error });
  });
  const voters = well.filter(({ address }) => members.some((member) => !member.learner && memberIsAt(member, address)));
  return voters.map(({ name, talosAddress }) => ({
    node: name,
    async *chunks() {
      const client = context.access.configured(talosAddress, credentials);
      const silence = new Silence(context.clock);
      try {
        for await (const chunk of client.etcdSnapshot({ signal: silence.signal })) {
          silence.restart();
          yield chunk;
        }
      } catch (error) {
        throw new SluiceError({ code: "SLU-B105", where: name, seen: asFailure(error, "SLU-B105").seen, cause: error });
      } finally {
        silence.end();
        client.close();
      }
    },
  }));
}

/** Aborts its signal once nothing has come for a while. */
class Silence {
  private readonly controller = new AbortController();
  private readonly clock: Clock;
  private cancel: () => void;

  constructor(clock: Clock) {
    this.clock = clock;
    this.cancel = this.start();
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  restart(): void {
    this.cancel();
    this.cancel = this.start();
  }

  end(): void {
    this.cancel();
  }

  private start(): () => void {
    return this.clock.after(silenceSeconds * 1000, () =>
      this.controller.abort(new Error(`nothing within ${silenceSeconds} s`)),
    );
  }
}
