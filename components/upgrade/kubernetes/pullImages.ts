// Pulls the images of a version of Kubernetes on all nodes, before the first of them is changed.
import { SluiceError } from "../../errors/sluiceError.ts";
import { count } from "../../model/count.ts";
import { type NodeClient, type NodeContext, using } from "../../talos/access/nodeAccess.ts";
import { asFailure } from "../../talos/access/nodeFailure.ts";
import type { ImageNamespace } from "../../talos/client/systemCalls.ts";
import type { KubernetesImages } from "../../talos/config/kubernetesImages.ts";
import { isAtLeast } from "../../talos/config/versions.ts";
import { retry, standardRetry } from "../../waiting/retry.ts";
import type { UpgradeNode } from "./nodeKubernetes.ts";

/** A node, and the images that it will run. */
export interface PullingNode {
  readonly node: UpgradeNode;
  /** The version of Talos. */
  readonly talos: string;
  readonly images: KubernetesImages;
}

interface Pull {
  readonly image: string;
  readonly namespace: ImageNamespace;
}

/** A node that cannot pull an image is found now, and all of them are named. */
export async function pullImages(
  nodes: readonly PullingNode[],
  open: (node: UpgradeNode) => NodeClient,
  seconds: number,
  context: NodeContext,
): Promise<void> {
  const until = context.clock.now() + seconds * 1000;
  const all = nodes.reduce((sum, { images }) => sum + pullsOf(images).length, 0);
  let pulled = 0;
  const show = (more = "") =>
    context.report(`pulls images: ${pulled} of ${count(all, "image")} on ${count(nodes.length, "node")}${more}`);
  const failed = await Promise.all(
    nodes.map(async ({ node, talos, images }) => {
      for (const pull of pullsOf(images)) {
        show(`; ${node.name}: ${pull.image}`);
        const end = await retry(
          () => using(open(node), (client) => pullOne(client, talos, pull, secondsLeft(until, context))),
          {
            ...context,
            policy: standardRetry,
            until: () => until,
            retryable: (error) => context.interrupted?.aborted !== true && asFailure(error, "SLU-K303").retryable,
          },
        );
        if (!end.ok) return [failure(node, pull.image, end.error)];
        pulled += 1;
        show();
      }
      return [];
    }),
  );
  context.interrupted?.throwIfAborted();
  const [first, ...others] = failed.flat();
  if (first !== undefined) throw new SluiceError({ ...first, others });
}

/** The kubelet is a service of Talos, which has its images in a namespace of its own. */
function pullsOf(images: KubernetesImages): readonly Pull[] {
  return Object.entries(images)
    .filter(([component]) => component !== "kube-proxy")
    .map(([component, image]) => ({ image, namespace: component === "kubelet" ? "SYSTEM" : "PODS" }));
}

async function pullOne(
  client: NodeClient,
  talos: string,
  { image, namespace }: Pull,
  deadlineSeconds: number,
): Promise<void> {
  const options = { deadlineSeconds, namespace };
  if (!isAtLeast(talos, 13)) return await client.system.pullSilently(image, options);
  for await (const _ of client.system.pull(image, options));
}

function failure({ name: where }: UpgradeNode, image: string, error: unknown) {
  const seen = `${image}: ${asFailure(error, "SLU-K303").seen}. Nothing was changed`;
  return { code: "SLU-K303", what: "every node to pull the images of Kubernetes", where, seen } as const;
}

function secondsLeft(until: number, { clock }: NodeContext): number {
  return Math.max(1, (until - clock.now()) / 1000);
}
