// Observes a running cluster of which only an address is known, as a process of its own: the nodes of a lab are reachable only from inside the lab. Reads what it
// needs from its standard input, and prints JSON, which has secrets.
import { text as readAll } from "node:stream/consumers";
import { reasonOf } from "../../components/errors/reasonOf.ts";
import { realAccess } from "../../components/talos/access/nodeAccess.ts";
import type { TalosCredentials } from "../../components/talos/client/talosClient.ts";
import { systemClock } from "../../components/waiting/clock.ts";
import { type ClusterLook, discoverNodes, type ExpectedNode, lookAtCluster } from "./lookAtCluster.ts";

/** What it reads. Secret. */
export interface DraftCall {
  /** By which control planes are reached. */
  readonly seeds: readonly string[];
  readonly credentials: TalosCredentials;
  /** Of the Kubernetes objects to read. */
  readonly paths: readonly string[];
}

export interface DraftLook extends ClusterLook {
  readonly expected: readonly ExpectedNode[];
}

const { seeds, credentials, paths }: DraftCall = JSON.parse(await readAll(process.stdin));
const context = { access: realAccess, clock: systemClock };
try {
  const expected = await discoverNodes(seeds, credentials, context);
  const look: DraftLook = { expected, ...(await lookAtCluster(expected, credentials, paths, context)) };
  process.stdout.write(JSON.stringify(look), () => process.exit(0));
} catch (error) {
  console.error(reasonOf(error));
  process.exit(1);
}
