// Asks nodes, as a process of its own: those on a lab are reachable only from inside the lab. Reads what it needs from its standard input, and prints JSON.
import { text as readAll } from "node:stream/consumers";
import { realAccess } from "../../components/talos/access/nodeAccess.ts";
import { systemClock } from "../../components/waiting/clock.ts";
import type { DeployedNode } from "./deployed.ts";
import { lookAtNodes, nodeReadiness } from "./lookAtNodes.ts";

/** What it reads. Secret. */
export interface StatusCall {
  readonly nodes: readonly DeployedNode[];
  readonly kubeconfig?: string | undefined;
}

const { nodes, kubeconfig }: StatusCall = JSON.parse(await readAll(process.stdin));
const readiness = () => nodeReadiness(kubeconfig, systemClock);
const reports = await lookAtNodes(nodes, readiness, { access: realAccess, clock: systemClock });
console.log(JSON.stringify(reports));
// What did not answer in time is not waited for.
process.exit(0);
