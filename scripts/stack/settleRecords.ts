// Fixes Helm's records of unfinished releases, in a separate process, because a cluster on a lab is reachable only from inside the lab. Reads a kubeconfig
// and the releases from its standard input, and prints a line for each record that it changed.
import { text as readAll } from "node:stream/consumers";
import { KubernetesClient } from "../../components/kubernetes/client.ts";
import { settleRecords, type UnfinishedRelease } from "../../components/kubernetes/releaseRecords.ts";
import { systemClock } from "../../components/waiting/clock.ts";

/** Its input. */
export interface SettlementCall {
  /** Secret. */
  readonly kubeconfig: string;
  readonly releases: readonly UnfinishedRelease[];
}

const { kubeconfig, releases }: SettlementCall = JSON.parse(await readAll(process.stdin));
const client = new KubernetesClient(kubeconfig, systemClock);
const { signal } = new AbortController();
for (const release of releases) {
  for (const { record, change } of await settleRecords(client, release, signal)) console.log(`${record} ${change}`);
}
