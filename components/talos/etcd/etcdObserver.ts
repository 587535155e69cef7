import type { Peer } from "../../model/peer.ts";
import { type NodeClient, type NodeContext, using } from "../access/nodeAccess.ts";
import { asFailure } from "../access/nodeFailure.ts";
import { stageOf } from "../access/nodeResources.ts";
import { resources } from "../client/resources.ts";
import { textOf } from "../client/specs.ts";
import type { TalosCredentials } from "../client/talosClient.ts";
import { type EtcdJudgement, type EtcdObservation, judgeEtcd } from "./etcdJudgement.ts";

/** Lines of machined's log: more than it writes in the seconds for which everything must be unchanged. */
const logLines = 300;
const requested = "bootstrap request received";

/** Observes the etcd of control planes repeatedly, and remembers for how long nothing has changed. */
export class EtcdObserver {
  private readonly credentials: TalosCredentials;
  private readonly context: NodeContext;
  private readonly before = new Map<string, { readonly state: string; readonly sinceMs: number }>();

  constructor(credentials: TalosCredentials, context: NodeContext) {
    this.credentials = credentials;
    this.context = context;
  }

  /** Never throws. Only a node in maintenance, or one that reports it itself, certainly has no etcd. */
  async judge({ name, talosAddress }: Pick<Peer, "name" | "talosAddress">): Promise<EtcdJudgement> {
    const { access } = this.context;
    const node = await access.probe(talosAddress, this.credentials);
    if (node.kind === "maintenance") return { kind: "none" };
    if (node.kind === "settling") return { kind: "unknown", why: `it is in stage ${node.stage}` };
    if (node.kind !== "ours") return { kind: "unknown", why: `it is ${node.kind}: ${node.why}` };
    try {
      return await using(access.configured(talosAddress, this.credentials), async (client) =>
        judgeEtcd(await this.observe(name, client)),
      );
    } catch (error) {
      return { kind: "unknown", why: asFailure(error, "SLU-T207").seen ?? "" };
    }
  }

  private async observe(name: string, client: NodeClient): Promise<EtcdObservation> {
    const services = await client.services();
    const etcd = services.find(({ id }) => id === "etcd");
    const cri = services.find(({ id }) => id === "cri");
    const unneeded = { hasData: true, stage: "", image: { name: "", isPulled: true, lastLine: "" }, requests: 0 };
    if (etcd === undefined || etcd.state === "Running") return { etcd, cri, ...unneeded, quietSeconds: 0 };
    const [hasData, machine, spec, log, images] = await Promise.all([
      client.hasEtcdData(),
      client.get(resources.machineStatus, "machine"),
      client.get(resources.etcdSpec, "etcd"),
      client.logLines("machined", logLines),
      client.systemImages(),
    ]);
    const image = textOf(spec?.spec, "image");
    const requests = log.filter((line) => line.includes(requested)).length;
    return {
      ...{ etcd, cri, hasData, requests, stage: stageOf(machine?.spec) },
      image: { name: image, isPulled: images.includes(image), lastLine: pullIn(log, image) },
      quietSeconds: this.quietSeconds(name, JSON.stringify([etcd.state, etcd.events, hasData, requests])),
    };
  }

  private quietSeconds(name: string, state: string): number {
    const now = this.context.clock.now();
    const before = this.before.get(name);
    if (before?.state === state) return (now - before.sinceMs) / 1000;
    this.before.set(name, { state, sinceMs: now });
    return 0;
  }
}

/** The last log line about the pull of an image, reduced to Talos' message. */
function pullIn(log: readonly string[], image: string): string {
  const line = log.findLast((one) => image !== "" && /\bpull/.test(one) && one.includes(image)) ?? "";
  return line.replace(/^.*?\[talos\] /, "").trim();
}
