// Asks all nodes of a cluster and its Kubernetes API at the same time, for `npm run status`. Nothing here takes longer than its deadline.

import { reasonOf } from "../../components/errors/reasonOf.ts";
import { KubernetesClient } from "../../components/kubernetes/client.ts";
import { record, text } from "../../components/model/untyped.ts";
import { type NodeAccess, type NodeClient, using } from "../../components/talos/access/nodeAccess.ts";
import { lookAt, runningConfig } from "../../components/talos/access/nodeResources.ts";
import { isSameConfig } from "../../components/talos/config/configDiff.ts";
import { configDrift } from "../../components/talos/config/configDrift.ts";
import { talosFaults, wantedTalos } from "../../components/talos/config/wantedTalos.ts";
import { memberIsAt } from "../../components/talos/etcd/etcdMember.ts";
import type { Clock } from "../../components/waiting/clock.ts";
import { withDeadline } from "../../components/waiting/deadline.ts";
import type { DeployedNode } from "./deployed.ts";
import type { NodeReport } from "./nodeReport.ts";

/** For all that is asked of one node, and of the Kubernetes API. */
export const askDeadlineSeconds = 4;

/** Readiness by the names of nodes; a text says why it is not known. */
export type Readiness = Readonly<Record<string, boolean>> | string;

const nothing = { stage: "", version: "", schematic: "", config: "", etcd: "", ready: "" } as const;

/** Each node as it is now. */
export async function lookAtNodes(
  nodes: readonly DeployedNode[],
  readiness: () => Promise<Readiness>,
  { access, clock }: { readonly access: NodeAccess; readonly clock: Clock },
): Promise<readonly NodeReport[]> {
  const bounded = <T>(work: Promise<T>) =>
    withDeadline(clock, askDeadlineSeconds * 1000, work, () => new Error(`no answer within ${askDeadlineSeconds} s`));
  const asked = nodes.map(async (node) => {
    const silent = (error: unknown) => unreached(node, `does not answer: ${reasonOf(error)}`);
    return bounded(lookAtNode(node, access)).catch(silent);
  });
  const [reports, ready] = await Promise.all([Promise.all(asked), bounded(readiness()).catch(reasonOf)]);
  return reports.map((report) => withReadiness(report, ready));
}

async function lookAtNode(node: DeployedNode, access: NodeAccess): Promise<NodeReport> {
  const { name, role, talosAddress, credentials } = node;
  const state = await access.probe(talosAddress, credentials);
  if (state.kind === "unreachable") return unreached(node, `does not answer at ${talosAddress}: ${state.why}`);
  if (state.kind === "foreign" || state.kind === "invalid") return unreached(node, state.why);
  if (state.kind !== "ours") {
    const stage = state.kind === "maintenance" ? "maintenance" : state.stage;
    const why = state.kind === "maintenance" ? "is in maintenance, without its config" : "waits for its certificate";
    return { ...nothing, name, role, reachable: "yes", stage, version: plainVersion(state.version), remarks: [why] };
  }
  return using(access.configured(talosAddress, credentials), (client) => lookInside(node, client));
}

/** All questions at once; one that is not answered is a remark. */
async function lookInside(node: DeployedNode, client: NodeClient): Promise<NodeReport> {
  const { name, role, address, imageSchematic, machineConfiguration: sent } = node;
  const options = { deadlineSeconds: askDeadlineSeconds };
  const remarks: string[] = [];
  const asked = <T>(what: string, work: Promise<T>) =>
    work.catch((error) => {
      remarks.push(`${what}: ${reasonOf(error)}`);
      return undefined;
    });
  const [talos, config, members] = await Promise.all([
    asked("Talos", lookAt(client, options)),
    asked("its machine config", runningConfig(client, options)),
    role === "controlplane" ? asked("etcd", client.etcdMembers(options)) : undefined,
  ]);
  const wanted = wantedTalos(sent);
  if (talos !== undefined && wanted !== undefined) remarks.push(...talosFaults(talos, wanted, imageSchematic));
  if (config !== undefined && !isSameConfig(config, sent)) remarks.push(...configDrift(sent, config));
  const own = members?.find((member) => memberIsAt(member, address));
  return {
    name,
    role,
    reachable: "yes",
    ...{ stage: talos?.stage ?? "", version: talos?.version ?? "", schematic: talos?.schematic ?? "" },
    config: config === undefined ? "" : isSameConfig(config, sent) ? "in sync" : "differs",
    etcd: members === undefined ? "" : own === undefined ? "none" : own.learner ? "learner" : "voter",
    ready: "",
    remarks,
  };
}

function unreached({ name, role }: DeployedNode, why: string): NodeReport {
  return { ...nothing, name, role, reachable: "no", remarks: [why] };
}

function withReadiness(report: NodeReport, readiness: Readiness): NodeReport {
  if (typeof readiness === "string") return { ...report, remarks: [...report.remarks, `Kubernetes: ${readiness}`] };
  const isReady = readiness[report.name];
  if (isReady === undefined) return { ...report, remarks: [...report.remarks, "Kubernetes: has no Node of this name"] };
  return { ...report, ready: isReady ? "yes" : "no" };
}

/** From the Kubernetes API. */
export async function nodeReadiness(kubeconfig: string | undefined, clock: Clock): Promise<Readiness> {
  if (kubeconfig === undefined) return "there is no kubeconfig yet";
  const client = new KubernetesClient(kubeconfig, clock);
  const call = { signal: new AbortController().signal, deadlineMs: askDeadlineSeconds * 1000 };
  const { items } = await client.json<{ readonly items: readonly NodeObject[] }>("/api/v1/nodes", call);
  const isReady = ({ status }: NodeObject) =>
    status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True");
  return Object.fromEntries(items.map((node) => [text(record(node.metadata).name), isReady(node) ?? false]));
}

interface NodeObject {
  readonly metadata: { readonly name: string };
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

function plainVersion(version: string): string {
  return version.replace(/^v/, "");
}
