// `npm run adopt -- <environment>`: takes a running cluster into the state, as it is.
import { readEnvironmentCall } from "../base/commandLine.ts";
import { Failure, main } from "../base/fail.ts";

const usage = `npm run adopt -- <environment> [--accept] [--machine <node>=<name or id>]

Compares a running cluster, which Sluice did not create, with an environment, and takes it into the state as it is: its machines, machine configs, etcd and Helm
releases. It needs the machine secrets of the cluster: npm run secrets -- import. Nothing is written to any node or to the cluster. Each difference is listed
with the key or the patch that removes it. Without differences the next 'up' writes to no node.
Exit codes: 0 adopted; 2 it differs, and nothing was adopted; 1 it could not be compared.

  --accept          adopt it although it differs: the next 'up' makes the listed changes
  --machine <...>   which server a node is, where neither its name nor its private address says so; may be repeated`;

await main(async () => {
  const call = await readEnvironmentCall(usage, {
    accept: { type: "boolean" },
    machine: { type: "string", multiple: true },
  });
  if (call === undefined) return 0;
  const { accept = false, machine = [] } = call.values;
  const { adopt } = await import("../adopt/adopt.ts");
  return await adopt(call.environment, { accepts: accept, chosen: Object.fromEntries(machine.map(pair)) });
});

function pair(given: string): [string, string] {
  const [, node, machine] = /^([^=]+)=(.+)$/.exec(given) ?? [];
  if (node === undefined || machine === undefined)
    throw new Failure(`--machine ${given}: must be <node>=<name or id>.`);
  return [node, machine];
}
