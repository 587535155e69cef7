// Changes images in the config that a node runs, and nothing else of it: whatever else the environment wants comes with its machine config, later.
import { SluiceError } from "../../errors/sluiceError.ts";
import { type NodeClient, type NodeContext, using } from "../../talos/access/nodeAccess.ts";
import { asFailure } from "../../talos/access/nodeFailure.ts";
import { identityFault, runningConfig } from "../../talos/access/nodeResources.ts";
import { TargetNode } from "../../talos/access/targetNode.ts";
import type { TalosCredentials } from "../../talos/client/talosClient.ts";
import {
  type KubernetesImages,
  kubernetesImages,
  upgradedImage,
  withImages,
} from "../../talos/config/kubernetesImages.ts";
import { poll } from "../../waiting/poll.ts";
import type { UpgradeNode } from "./nodeKubernetes.ts";

export interface ImageChange {
  readonly node: UpgradeNode;
  /** The wanted images, of the components that are changed. */
  readonly images: KubernetesImages;
  readonly credentials: TalosCredentials;
  /** Deadline, by the clock. */
  readonly until: number;
}

/** Seconds for the call: the node validates the config. */
const applySeconds = 15;

/** Resolves when the node has the config, with the images that it had; none if it had the wanted ones. */
export async function setImages(change: ImageChange, context: NodeContext): Promise<KubernetesImages> {
  const target = new TargetNode({ ...change.node, credentials: change.credentials }, change.until, context);
  let had: KubernetesImages = {};
  const send = async () => {
    context.interrupted?.throwIfAborted();
    try {
      const sent = await using(target.open(), (client) => sendImages(client, change, context));
      // An attempt whose answer was lost has changed them already.
      had = { ...sent?.had, ...had };
      if (sent !== undefined) await target.runs(sent.config);
      return { found: had };
    } catch (error) {
      const failure = asFailure(error, "SLU-K305", { call: "applyConfiguration" });
      if (!failure.retryable || context.interrupted?.aborted) throw failure;
      context.report(`${failure.seen}; retrying`);
      return { late: failure };
    }
  };
  return await poll(send, { ...context, until: () => change.until });
}

async function sendImages(client: NodeClient, { node, images }: ImageChange, context: NodeContext) {
  const fault = await identityFault(client, node.identity);
  if (fault !== undefined) throw new SluiceError({ code: "SLU-T302", seen: fault });
  const running = await runningConfig(client);
  const now = kubernetesImages(running ?? "");
  const changed = Object.entries(images).flatMap(([component, image]) => {
    const was = now[component as keyof KubernetesImages];
    const is = was === undefined ? image : upgradedImage(was, image);
    return was === is ? [] : [{ component, was, is }];
  });
  if (changed.length === 0) return undefined;
  const config = withImages(running ?? "", Object.fromEntries(changed.map(({ component, is }) => [component, is])));
  if (config === undefined) throw new SluiceError({ code: "SLU-T206", seen: "its running config cannot be read" });
  context.report(`gets ${changed.map(({ is }) => is.replace(/^.*\//, "")).join(", ")}`);
  await client.applyConfiguration({ config, mode: "NO_REBOOT" }, { deadlineSeconds: applySeconds });
  const had = changed.flatMap(({ component, was }) => (was === undefined ? [] : [[component, was] as const]));
  return { config, had: Object.fromEntries(had) };
}
