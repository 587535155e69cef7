// Finds out which control planes have an etcd, in a separate process, because nodes on a lab are reachable only from inside the lab. Reads control planes and
// credentials from its standard input, and prints JSON: why each may have an etcd; empty if none has.
import { text as readAll } from "node:stream/consumers";
import { realAccess } from "../../components/talos/access/nodeAccess.ts";
import type { TalosCredentials } from "../../components/talos/client/talosClient.ts";
import { lookAtEtcd } from "../../components/talos/etcd/etcdPresence.ts";

/** Its input. */
export interface EtcdLooksCall {
  readonly controlPlanes: readonly { readonly name: string; readonly talosAddress: string }[];
  /** Secret. */
  readonly credentials: TalosCredentials;
}

const { controlPlanes, credentials }: EtcdLooksCall = JSON.parse(await readAll(process.stdin));
const doubts = controlPlanes.map(async (node) => {
  // A reset of STATE alone leaves the data of etcd on the disk, which is detected only once the node has its config again.
  const { kind } = await realAccess.probe(node.talosAddress, credentials);
  if (kind === "maintenance") return [`${node.name} is in maintenance, without its config`];
  const look = await lookAtEtcd(node, credentials, { access: realAccess });
  return look.kind === "none" ? [] : [look.why];
});
console.log(JSON.stringify((await Promise.all(doubts)).flat()));
