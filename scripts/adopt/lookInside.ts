// Observes a running cluster, as a process of its own: the nodes of a lab are reachable only from inside the lab. Reads what it needs from its standard input, and
// prints JSON, which has secrets.
import { text as readAll } from "node:stream/consumers";
import { realAccess } from "../../components/talos/access/nodeAccess.ts";
import type { TalosCredentials } from "../../components/talos/client/talosClient.ts";
import { systemClock } from "../../components/waiting/clock.ts";
import { type ExpectedNode, lookAtCluster } from "./lookAtCluster.ts";

/** What it reads. Secret. */
export interface LookCall {
  readonly nodes: readonly ExpectedNode[];
  readonly credentials: TalosCredentials;
  /** Of the Kubernetes objects to read. */
  readonly paths: readonly string[];
}

const { nodes, credentials, paths }: LookCall = JSON.parse(await readAll(process.stdin));
const look = await lookAtCluster(nodes, credentials, paths, { access: realAccess, clock: systemClock });
process.stdout.write(JSON.stringify(look), () => process.exit(0));
