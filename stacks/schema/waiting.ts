// How long is waited, and how configs are sent.
import { z } from "zod";
import { standardRetry } from "../../components/talos/retry.ts";

const seconds = z.int().min(1, "must be 1 second or more");

/** How long each gate waits, in seconds, before it gives up, and how long everything else that is waited for may take. */
export const timeouts = z.strictObject({
  images: seconds.default(45),
  lease: seconds.default(300),
  preflight: seconds.default(60),
  stages: seconds.default(300),
  etcd: seconds.default(300),
  drain: seconds.default(300),
  services: seconds.default(300),
  vip: seconds.default(180),
  kubeconfig: seconds.default(60),
  api: seconds.default(300),
  joined: seconds.default(300),
  cilium: seconds.default(300),
  nodes: seconds.default(600),
  csi: seconds.default(300),
  sealedSecrets: seconds.default(300),
  gitops: seconds.default(600),
});

const atOnce = "must be a number from 1 on, or a share such as '25%'";

/** How machine configs are sent to nodes. */
export const apply = z.strictObject({
  /** Seconds before the first retry. */
  firstDelay: z.number().min(0.1, "must be 0.1 seconds or more").default(standardRetry.firstDelay),
  /** How much longer each delay is than the one before. */
  factor: z.number().min(1, "must be 1 or more").default(standardRetry.factor),
  /** No delay is longer, in seconds. */
  maxDelay: z.number().min(0.1, "must be 0.1 seconds or more").default(standardRetry.cap),
  retries: z.int().min(0).default(standardRetry.retries),
  /** How many nodes at once: a number, or a share of all such as `25%`. Control planes that are bootstrapped go one at a time whatever it says. */
  parallel: z
    .union([z.int(atOnce).min(1, atOnce), z.string().regex(/^([1-9]\d?|100)%$/, atOnce)], { error: atOnce })
    .default(1),
});
