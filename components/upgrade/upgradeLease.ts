// One upgrade of a cluster at a time, whoever starts it: two that know nothing of each other could each take down a control plane. The engine's lock protects
// only one state.
import { randomUUID } from "node:crypto";
import { hostname, userInfo } from "node:os";
import { SluiceError } from "../errors/sluiceError.ts";
import type { KubernetesObjects } from "../kubernetes/kubernetesObjects.ts";
import type { KubernetesObject } from "../kubernetes/objects.ts";
import { type Clock, pause } from "../waiting/clock.ts";

/** Seconds after which a lease that is no longer renewed is free: a killed run holds it for that long. */
const leaseSeconds = 60;
/** Seconds between two renewals. */
const renewSeconds = 15;

const folder = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";
const name = "sluice-upgrade";
const path = `${folder}/${name}`;

interface Lease extends KubernetesObject {
  readonly spec?: {
    readonly holderIdentity?: string;
    readonly renewTime?: string;
  };
}

/** Makes calls to Kubernetes, each for a short time only. */
export type KubernetesCalls = <T>(call: (objects: KubernetesObjects) => Promise<T>) => Promise<T>;

export interface LeaseContext {
  readonly clock: Clock;
  readonly report: (text: string) => void;
  readonly interrupted?: AbortSignal | undefined;
}

/** Held until it is ended. */
export interface UpgradeLease {
  /** Throws if another run has taken it over, because this one could not renew it: then nothing more may be changed. */
  check(): void;
  end(): Promise<void>;
}

/** Takes the lease; throws if another run renews it. */
export async function takeUpgradeLease(calls: KubernetesCalls, context: LeaseContext): Promise<UpgradeLease> {
  const holder = `${userInfo().username}@${hostname()} ${randomUUID().slice(0, 8)}`;
  const ended = await waitUntilFree(calls, context);
  await calls((objects) => write(objects, holder, ended));
  return new HeldLease(holder, calls, context);
}

/** What the lease of a run that no longer renews it says; undefined if there is none. By the own clock, because those of two hosts may differ. */
async function waitUntilFree(
  calls: KubernetesCalls,
  { clock, report, interrupted }: LeaseContext,
): Promise<Lease["spec"]> {
  const read = async () => (await calls((objects) => objects.get<Lease>(path)))?.spec;
  const first = await read();
  if (first === undefined) return undefined;
  const until = clock.now() + leaseSeconds * 1000;
  while (clock.now() < until) {
    report(`waits up to ${leaseSeconds} s: ${first.holderIdentity} upgrades this cluster, or did until it was ended`);
    await pause(clock, 1_000, interrupted);
    interrupted?.throwIfAborted();
    const now = await read();
    if (now === undefined) return undefined;
    if (!isSame(now, first)) throw isTaken(now);
  }
  return first;
}

function isSame(one: Lease["spec"], other: Lease["spec"]): boolean {
  return one?.holderIdentity === other?.holderIdentity && one?.renewTime === other?.renewTime;
}

function isTaken(by: Lease["spec"]): SluiceError {
  return new SluiceError({ code: "SLU-T409", seen: `${by?.holderIdentity} renews its lease kube-system/${name}` });
}

/** Creates, replaces or renews the lease, unless someone else has written it since `ended` was read. */
async function write(objects: KubernetesObjects, holder: string, ended?: Lease["spec"]): Promise<void> {
  const found = await objects.get<Lease>(path);
  const isFree = found?.spec === undefined || found.spec.holderIdentity === holder || isSame(found.spec, ended);
  if (!isFree) throw isTaken(found.spec);
  const spec = { holderIdentity: holder, renewTime: microTime(), leaseDurationSeconds: leaseSeconds };
  const metadata = { name, namespace: "kube-system" };
  const lease = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata, spec };
  // Each is refused if another run was faster.
  if (found === undefined) await objects.create(folder, lease);
  else await objects.patch(path, { metadata: { resourceVersion: found.metadata.resourceVersion }, spec });
}

function microTime(): string {
  return new Date().toISOString().replace("Z", "000Z");
}

class HeldLease implements UpgradeLease {
  private readonly holder: string;
  private readonly calls: KubernetesCalls;
  private readonly ended = new AbortController();
  private readonly renewing: Promise<void>;
  private lost: SluiceError | undefined;

  constructor(holder: string, calls: KubernetesCalls, { clock }: LeaseContext) {
    this.holder = holder;
    this.calls = calls;
    this.renewing = this.renew(clock);
  }

  check(): void {
    if (this.lost !== undefined) throw this.lost;
  }

  async end(): Promise<void> {
    this.ended.abort();
    await this.renewing;
    if (this.lost === undefined) await this.calls((objects) => objects.remove(path)).catch(() => undefined);
  }

  /** While the only API server reboots nobody can renew the lease, or take it. */
  private async renew(clock: Clock): Promise<void> {
    while (this.lost === undefined) {
      await pause(clock, renewSeconds * 1000, this.ended.signal);
      if (this.ended.signal.aborted) return;
      await this.calls((objects) => write(objects, this.holder)).catch((error: unknown) => {
        if (error instanceof SluiceError && error.code === "SLU-T409") this.lost = error;
      });
    }
  }
}
