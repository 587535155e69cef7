// `npm run adopt -- <environment>`: takes a running cluster into the state, as it is.
import { readEnvironmentCall } from "../base/commandLine.ts";
import { Failure, main } from "../base/fail.ts";

const usage = `npm run adopt -- <environment> [--accept] [--machine <node>=<name or id>]
npm run adopt -- <environment> --draft --secrets <file> --node <address> [--identity <file>] [--resource <address>] [--lab <name>]

Compares a running cluster, which Sluice did not create, with an environment, and takes it into the state as it is: its machines, machine configs, etcd and Helm
releases. It needs the machine secrets of the cluster: npm run secrets -- import. Nothing is written to any node or to the cluster. Each difference is listed
with the key or the patch that removes it. Without differences the next 'up' writes to no node. With --draft it writes an environment's file from what runs, for
machines that others have made (platform: existing); a file that exists is never overwritten.
Exit codes: 0 adopted; 2 it differs, and nothing was adopted; 1 it could not be compared.

  --accept          adopt it although it differs: the next 'up' makes the listed changes
  --machine <...>   which server a node is, where neither its name nor its private address says so; may be repeated
  --draft           write Pulumi.<environment>.yaml from what runs
  --secrets <file>  the machine secrets of the cluster, in any form that npm run secrets -- import takes
  --node <address>  by which a control plane is reached; may be repeated
  --identity <file>, --resource <address>   as for npm run secrets -- import
  --lab <name>      the cluster is on this lab`;

const options = {
  accept: { type: "boolean" },
  machine: { type: "string", multiple: true },
  draft: { type: "boolean" },
  secrets: { type: "string" },
  node: { type: "string", multiple: true },
  identity: { type: "string" },
  resource: { type: "string" },
  lab: { type: "string" },
} as const;

await main(async () => {
  const call = await readEnvironmentCall(usage, options);
  if (call === undefined) return 0;
  const { accept, machine, draft: drafts, secrets, node, identity, resource, lab } = call.values;
  if (!drafts) {
    needNone("--draft", { secrets, node, identity, resource, lab });
    const { adopt } = await import("../adopt/adopt.ts");
    return await adopt(call.environment, {
      accepts: accept ?? false,
      chosen: Object.fromEntries((machine ?? []).map(pair)),
    });
  }
  needNone("an adoption", { accept, machine });
  if (secrets === undefined) throw new Failure("--draft needs the machine secrets of the cluster: --secrets <file>.");
  if (node === undefined) throw new Failure("--draft needs the address of a control plane: --node <address>.");
  const { draft } = await import("../adopt/draft.ts");
  await draft(call.environment, { file: secrets, identity, resource, nodes: node, lab });
  return 0;
});

function needNone(of: string, values: Readonly<Record<string, unknown>>): void {
  const given = Object.keys(values).filter((name) => values[name] !== undefined);
  if (given.length > 0)
    throw new Failure(`--${given.join(", --")} ${given.length === 1 ? "is" : "are"} for ${of} only.`);
}

function pair(given: string): [string, string] {
  const [, node, machine] = /^([^=]+)=(.+)$/.exec(given) ?? [];
  if (node === undefined || machine === undefined)
    throw new Failure(`--machine ${given}: must be <node>=<name or id>.`);
  return [node, machine];
}
