import { systemClock } from "../../../components/waiting/clock.ts";
import { ApiServer } from "../kubernetes/apiServer.ts";
import { type FakeNode, FakeWorld } from "./fakeNodes.ts";

/** Nodes of a cluster whose Kubernetes API is a real server. */
export class FakeCluster extends FakeWorld {
  readonly api = new ApiServer();

  static async start(): Promise<FakeCluster> {
    const cluster = new FakeCluster();
    await cluster.api.start();
    return cluster;
  }

  /** The context of a call that reaches the API server, where real time passes. */
  inRealTime(): FakeWorld & { readonly clock: typeof systemClock } {
    return Object.assign(Object.create(this), this, { clock: systemClock });
  }

  override addControlPlanes(names: readonly string[], members?: readonly string[]): FakeNode[] {
    const nodes = super.addControlPlanes(names, members);
    for (const node of nodes) node.kubeconfig = this.api.kubeconfig();
    return nodes;
  }
}
