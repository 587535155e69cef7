// Proves that a node runs components of Kubernetes in a version, and healthily: by the status of its own static pods, and of its own kubelet.
import { SluiceError } from "../../errors/sluiceError.ts";
import { type ComponentFault, servingFault } from "../../talos/access/controlPlaneComponents.ts";
import { type NodeClient, type NodeContext, using } from "../../talos/access/nodeAccess.ts";
import { classify } from "../../talos/client/classify.ts";
import { maskedLine } from "../../talos/client/maskedLog.ts";
import { isUnanswered } from "../../talos/client/nodeState.ts";
import { imageVersion, type KubernetesComponent } from "../../talos/config/kubernetesImages.ts";
import { type Polled, poll } from "../../waiting/poll.ts";
import type { Delays } from "../../waiting/rounds.ts";
import { type NodeKubernetes, readKubernetes } from "./nodeKubernetes.ts";

export interface ComponentWait {
  /** The node. */
  readonly name: string;
  readonly open: () => NodeClient;
  /** Deadline, by the clock. */
  readonly until: number;
  /** Seconds for which all must be as wanted without a break. */
  readonly stableSeconds: number;
}

/** Components, and the version that they should run. */
export interface WantedVersion {
  readonly components: readonly KubernetesComponent[];
  readonly version: string;
}

const delays: Delays = { firstMs: 250, factor: 1.5, mostMs: 1_000 };
/** Lines of a log that are read. */
const readLines = 40;

/** Resolves when these components run in this version, and all others of the node are healthy too. */
export async function componentsRun(wanted: WantedVersion, wait: ComponentWait, context: NodeContext): Promise<void> {
  const { clock } = context;
  const { name, open, until, stableSeconds } = wait;
  let healthySince: number | undefined;
  const look = async (): Promise<Polled<true>> => {
    const found = await using(open(), async (client) => {
      const now = await readKubernetes(client);
      const fault = faultOf(now, wanted);
      return fault?.isPermanent ? { ...fault, words: await lastWords(client, name, fault) } : fault;
    }).catch(unseen);
    if (found === undefined) {
      healthySince ??= clock.now();
      if (clock.now() - healthySince >= stableSeconds * 1000) return { found: true };
      context.report(`is healthy; waits until it has been so for ${stableSeconds} s`);
      return { late: new SluiceError({ code: "SLU-K305", seen: "it was healthy, but not for long enough" }) };
    }
    healthySince = undefined;
    context.report(found.seen);
    if (!found.isPermanent) return { late: new SluiceError({ code: "SLU-K305", seen: found.seen }) };
    const words = "words" in found && found.words !== undefined ? `\n${found.words}` : "";
    throw new SluiceError({ code: "SLU-K304", seen: `${found.seen}${words}` });
  };
  await poll(look, { ...context, until: () => until, delays });
}

/** What is not as wanted. A component that fails for good in another version than the wanted one is about to be replaced. */
export function faultOf(now: NodeKubernetes, wanted: WantedVersion): ComponentFault | undefined {
  const old = wanted.components.map((component) => ({ component, why: notYet(now, component, wanted.version) }));
  const lagging = old.find(({ why }) => why !== undefined);
  const fault = servingFault(now.components);
  const isOfOld = old.some(({ component, why }) => component === fault?.component && why !== undefined);
  if (fault?.isPermanent && !isOfOld) return fault;
  if (lagging === undefined) return fault;
  const { component, why } = lagging;
  return { component, seen: `${component}: ${why}`, isPermanent: false };
}

/** Why a component does not run in the version yet. */
function notYet(
  { wanted, running }: Pick<NodeKubernetes, "wanted" | "running">,
  component: KubernetesComponent,
  version: string,
): string | undefined {
  if (imageVersion(wanted[component] ?? "")?.text !== version) return `Talos has not written it for ${version} yet`;
  if (component === "kubelet") return undefined; // its Node says what it runs
  const image = running[component];
  if (image === undefined) return "the kubelet does not report its pod yet";
  // An image without a tag is that of the manifest.
  const runs = imageVersion(image)?.text ?? version;
  return runs === version ? undefined : `still runs ${runs}`;
}

/** What a component printed before it ended: it names the flag that it does not know. The kubelet's own words are in the fault already. */
async function lastWords(
  client: NodeClient,
  node: string,
  { component: pod }: ComponentFault,
): Promise<string | undefined> {
  if (pod === undefined || pod === "kubelet") return undefined;
  const lines = await client.podLines(`kube-system/${pod}-${node}:${pod}`, readLines).catch(() => []);
  return failureIn(lines);
}

/** Programs of Kubernetes end with why they failed, and some of them with the help text after that. */
export function failureIn(lines: readonly string[]): string | undefined {
  const failed = lines.findLast((line) => /"command failed" err=|\bError: |\bpanic: /.test(line));
  const line = failed ?? lines.findLast((one) => one.trim() !== "");
  if (line === undefined) return undefined;
  const [, said = line] = /"command failed" err="(.*)"\s*$/.exec(line) ?? /\b((?:Error|panic): .*)$/.exec(line) ?? [];
  return maskedLine(said.replace(/^\S+ std(?:err|out) [FP] /, ""));
}

/** If the node does not answer for a moment, it is asked again. */
function unseen(error: unknown): ComponentFault {
  if (!isUnanswered(error)) throw error;
  return { seen: `the node does not answer: ${classify(error).seen}`, isPermanent: false };
}
