// Works with the backups of a cluster, as a process of its own: the nodes and the object store of a lab are reachable only from inside the lab. Reads what it
// needs from its standard input, prints JSON, and reports on its standard error what it does.
import { text as readAll } from "node:stream/consumers";
import { recordNodes } from "../../components/backup/clusterRecord.ts";
import type { ClusterRecord } from "../../components/backup/manifest.ts";
import { openTarget, type TargetPlace } from "../../components/backup/openTarget.ts";
import { completeNames, manifestOf, resolveName, verifyBackup } from "../../components/backup/readBackup.ts";
import { snapshotSources } from "../../components/backup/snapshotSources.ts";
import { takeBackup } from "../../components/backup/takeBackup.ts";
import type { BackupTarget } from "../../components/backup/target.ts";
import { SluiceError } from "../../components/errors/sluiceError.ts";
import { realAccess } from "../../components/talos/access/nodeAccess.ts";
import { systemClock } from "../../components/waiting/clock.ts";
import { quietIntervalMs } from "../base/reporting.ts";
import type { DeployedNode } from "../inspect/deployed.ts";
import type { BackupEntry } from "./backupWords.ts";

/** What it reads. Secret. */
export type BackupCall = { readonly place: TargetPlace } & (TakeCall | ListCall | VerifyCall);

interface TakeCall {
  readonly action: "take";
  readonly nodes: readonly Pick<DeployedNode, "name" | "role" | "address" | "talosAddress" | "credentials">[];
  readonly cluster: Omit<ClusterRecord, "nodes">;
  /** As Talos' secrets.yaml. */
  readonly machineSecrets: string;
  readonly recipients: readonly string[];
  readonly keep: number;
  readonly reason: string;
  readonly temporary: string;
}

interface ListCall {
  readonly action: "list";
}

interface VerifyCall {
  readonly action: "verify";
  /** A backup's name, or `latest`. */
  readonly name: string;
  /** Without them the backup is downloaded and compared, and not decrypted. */
  readonly identities?: readonly string[] | undefined;
}

const call: BackupCall = JSON.parse(await readAll(process.stdin));
const target = openTarget(call.place, systemClock);
if (target === undefined) throw new Error("there is no target"); // the command has checked it
try {
  console.log(JSON.stringify(await answer(call, target)));
} catch (error) {
  console.error(error instanceof SluiceError ? error.message : error);
  process.exitCode = 1;
}

async function answer(asked: BackupCall, from: BackupTarget): Promise<unknown> {
  if (asked.action === "list") return { title: from.title, backups: await entries(from) };
  if (asked.action === "verify") {
    const name = await resolveName(from, asked.name);
    console.error(`sluice: reads ${name} in ${from.title}`);
    return await verifyBackup(from, name, asked.identities);
  }
  const { nodes, cluster, machineSecrets, ...plan } = asked;
  const report = reporter();
  const context = { access: realAccess, clock: systemClock, random: Math.random, report };
  const [first] = nodes;
  if (first === undefined) throw new Error("there is no node"); // the command has checked it
  const controlPlanes = nodes.filter(({ role }) => role === "controlplane");
  const [sources, recorded] = await Promise.all([
    snapshotSources(controlPlanes, first.credentials, context),
    recordNodes(nodes, first.credentials, context),
  ]);
  const content = { cluster: { ...cluster, nodes: recorded }, secrets: { plain: machineSecrets } };
  const taken = await takeBackup({ ...plan, ...content, sources, target: from, now: Date.now, report });
  return { ...taken, title: from.title };
}

/** The newest first; one whose manifest cannot be read is listed with the reason. */
async function entries(from: BackupTarget): Promise<readonly BackupEntry[]> {
  const names = await completeNames(from);
  return await Promise.all(
    names.map(async (name): Promise<BackupEntry> => {
      try {
        return { name, manifest: await manifestOf(from, name) };
      } catch (error) {
        return { name, problem: error instanceof SluiceError ? error.seen : String(error) };
      }
    }),
  );
}

/** Reports each step at once, and what changes in it every five seconds. */
function reporter(): (text: string) => void {
  let last = { step: "", atMs: 0 };
  return (text) => {
    const step = text.replace(/[\d.]+ \w+$/, "");
    const now = Date.now();
    if (step === last.step && now - last.atMs < quietIntervalMs) return;
    last = { step, atMs: now };
    console.error(`sluice: ${text}`);
  };
}
