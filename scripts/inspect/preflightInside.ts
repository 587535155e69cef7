// Waits for the gate Preflight as a process of its own: machines on a lab, and their platform, are reachable only from inside the lab. Reads what it needs from its
// standard input, reports what it waits for on standard error, and prints JSON.
import { text as readAll } from "node:stream/consumers";
import { reasonOf } from "../../components/errors/reasonOf.ts";
import { gateFailure } from "../../components/gates/gateFailure.ts";
import { waitUntil } from "../../components/gates/gateWait.ts";
import { preflight } from "../../components/gates/preflight.ts";
import type { PreflightNode } from "../../components/gates/talos/machineFaults.ts";
import type { MachineEntries } from "../../components/lifecycle/changePlan.ts";
import type { MachinePlace } from "../../components/lifecycle/machinePlatform.ts";
import { currentMachines } from "../../components/machines/currentMachines.ts";
import type { TalosCredentials } from "../../components/talos/client/talosClient.ts";
import { systemClock } from "../../components/waiting/clock.ts";

/** What it reads. Secret. */
export interface PreflightCall {
  readonly place: MachinePlace;
  readonly entries: MachineEntries;
  /** The token that the environment's file has. */
  readonly token?: string | undefined;
  /** Where the token is otherwise. */
  readonly variable?: string | undefined;
  readonly nodes: readonly Omit<PreflightNode, "talosAddress">[];
  readonly talosVersion: string;
  readonly credentials: TalosCredentials;
  readonly deadlineSeconds: number;
}

export type PreflightAnswer =
  /** Of these nodes there is no machine yet. */
  | { readonly kind: "open"; readonly words: string; readonly missing: readonly string[] }
  | { readonly kind: "closed"; readonly message: string }
  /** The platform did not report which machines there are. */
  | { readonly kind: "unknown"; readonly message: string };

const call: PreflightCall = JSON.parse(await readAll(process.stdin));
console.log(JSON.stringify(await answer(call)));
process.exit(0);

async function answer(asked: PreflightCall): Promise<PreflightAnswer> {
  const { place, entries, token, variable, nodes } = asked;
  try {
    const found = await currentMachines({ place, entries, token: token ?? process.env[variable ?? ""] });
    const there = nodes.flatMap((node) => {
      const talosAddress = found[node.name]?.talosAddress;
      return talosAddress === undefined ? [] : [{ ...node, talosAddress }];
    });
    const missing = nodes.filter(({ name }) => found[name] === undefined).map(({ name }) => name);
    return there.length === 0 ? { kind: "open", words: "", missing } : await wait(asked, there, missing);
  } catch (error) {
    return { kind: "unknown", message: reasonOf(error) };
  }
}

async function wait(
  { talosVersion, credentials, deadlineSeconds }: PreflightCall,
  nodes: readonly PreflightNode[],
  missing: readonly string[],
): Promise<PreflightAnswer> {
  const inputs = { nodes, talosVersion, credentials };
  const settings = { deadlineSeconds, stableSeconds: 0 };
  const report = (text: string) => void process.stderr.write(`${text}\n`);
  const end = await waitUntil(preflight, inputs, settings, { clock: systemClock, report });
  if (end.kind !== "opened") return { kind: "closed", message: gateFailure(preflight, end, 0).message };
  return { kind: "open", words: preflight.words(preflight.evidence(end.observation, inputs)), missing };
}
