// The operations of an AppliedMachineConfig.
import type { ResourceInputs } from "../../engine/checkoutResource.ts";
import { isUnknown } from "../../engine/isUnknown.ts";
import { allRenamed, renamed } from "../../engine/renamed.ts";
import { engineCalls, type Note, type ResourceOperations } from "../../engine/resourceProvider.ts";
import type { FailureCode } from "../../errors/catalogue.ts";
import { SluiceError } from "../../errors/sluiceError.ts";
import { sha256 } from "../../model/contentHash.ts";
import { withDeadline } from "../../waiting/deadline.ts";
import { type NodeResourceContext, nodeContext, using } from "../access/nodeAccess.ts";
import { asFailure, endFailure } from "../access/nodeFailure.ts";
import { identityFault, lookAt, type NodeLook, runningConfig } from "../access/nodeResources.ts";
import { isSameConfig } from "../config/configDiff.ts";
import { machineSection } from "../config/configDocuments.ts";
import { configDrift } from "../config/configDrift.ts";
import { configSummary } from "../config/configSummary.ts";
import { upgraded } from "../config/kubernetesImages.ts";
import { unsupportedKubernetesStep } from "../config/kubernetesStep.ts";
import { talosContract } from "../config/versions.ts";
import { type RunningTalos, talosFaults, upgradeRemedy, wantedTalos } from "../config/wantedTalos.ts";
import type { AppliedMachineConfigArgs } from "./appliedMachineConfig.ts";
import { configureNode } from "./configureNode.ts";

export type AppliedMachineConfigInputs = ResourceInputs<AppliedMachineConfigArgs>;

export interface AppliedMachineConfigState extends AppliedMachineConfigInputs, NodeLook {
  /** The config that a refresh found on the node, if it is not the one that was sent: a preview shows what drifted. Secret. */
  readonly found?: string | undefined;
  /** Hash of the config that the node runs. */
  readonly configHash: string;
  /** How often it got its config again in maintenance; if this changes, the gates run again. */
  readonly joins: number;
  /** The node's state when it was observed last. */
  readonly state: "ours" | "maintenance" | "foreign";
  /** How many attempts the last change of its config took (S1.5). */
  readonly attempts: number;
  /** Failure code of the attempt before the last one, if there was one. */
  readonly lastError?: FailureCode;
  /** What a refresh found to be different, as text, secrets masked. */
  readonly drift: readonly string[];
}

/** Seconds for everything that a refresh asks of a node, even of one that is gone. */
const readDeadlineSeconds = 5;

export const operations = {
  id: ({ node }) => node,

  create: async (inputs, context) => {
    if (inputs.adopts) return await adopt(inputs, context);
    return { ...(await configure(inputs, context)).state, joins: 0 };
  },

  /** Whatever changed in the inputs, the node is asked what it runs: if that is the wanted config, nothing is written. */
  async update({ joins }, inputs, context) {
    if (inputs.adopts) return await adopt(inputs, context);
    const { state, did } = await configure(inputs, context);
    return { ...state, joins: did === "joined" ? joins + 1 : joins };
  },

  difference(olds, news) {
    if (olds.machineId !== news.machineId) return { kind: "replace", keys: ["machineId"] };
    const isFound = olds.drift.length > 0 || hasLostConfig(olds, news);
    const isOther = isFound || isWritten(olds, news) || reach(olds) !== reach(news);
    if (isOther) return { kind: "update" };
    return { kind: olds.contract === news.contract ? "none" : "record" };
  },

  /** Also if the machine is replaced: the cluster that it joins runs the version in the state. */
  refusal(olds, { node, machineConfiguration: is, contract }) {
    if (isUnknown(is) || isUnknown(contract)) return undefined;
    const other = otherContract(olds, contract);
    if (other !== undefined) return other;
    const step = unsupportedKubernetesStep(configOf(olds), is);
    if (step === undefined) return undefined;
    const { component, from, to, remedy } = step;
    return new SluiceError({
      code: "SLU-T214",
      where: node,
      what: "Kubernetes to change by one minor version at most, and not down",
      seen: `${component} runs ${from}, and would be ${to}`,
      remedy,
    });
  },

  /** In a preview this shows the user what would change on the node. */
  notes(olds, news) {
    const { machineConfiguration, node } = news;
    if (isUnknown(machineConfiguration) || olds.machineId !== news.machineId) return [];
    const lost = `${node} is in maintenance, without its config: it is sent again`;
    return [
      ...(hasLostConfig(olds, news) ? [{ text: lost, as: "warning" } as const] : []),
      ...(isWritten(olds, news) ? summary(olds, news) : []),
    ];
  },

  /** Observes once, within a time limit. A node that does not answer stays in the state: it still exists, only the connection failed. */
  async read(state, context) {
    const seen = await look(state, context).catch(notSeen);
    if (seen.state === "silent") {
      const what = "code" in seen ? `could not be observed (${seen.code})` : "does not answer";
      await context.note(`${state.node} ${what}: ${seen.why}. Its last known state is kept.`, "warning");
      return state;
    }
    const news = newsOf(state, seen);
    if (news.drift.length > 0) await context.note(`${state.node}: ${news.drift.join("; ")}`, "warning");
    // Not set to undefined, because the engine accepts no such value.
    const { found: _, ...rest } = state;
    return { ...rest, ...news };
  },

  migrate: (state) => ({
    // An output that is missing in the state is unknown in every preview, and so are the gates that use it as an input.
    joins: 0,
    ...renamed(state, { endpoint: "talosAddress", deadline: "deadlineSeconds" }),
    peers: allRenamed(state.peers, { node: "name", endpoint: "talosAddress" }),
  }),

  outcome: ({ version, stage }) => `runs its config: Talos ${version}, ${stage}`,
} satisfies ResourceOperations<AppliedMachineConfigInputs, AppliedMachineConfigState, NodeResourceContext>;

export const { create, read, diff, update, remove } = engineCalls<
  AppliedMachineConfigInputs,
  AppliedMachineConfigState,
  NodeResourceContext
>(operations, nodeContext);

async function configure(inputs: AppliedMachineConfigInputs, context: NodeResourceContext) {
  const began = context.clock.now();
  const { did, ...seen } = await configureNode(inputs, context);
  refuseOtherTalos(inputs, seen, (context.clock.now() - began) / 1000);
  if (seen.attempts > 1) await context.note(`${inputs.node} runs its config after ${seen.attempts} attempts`, "info");
  const configHash = sha256(inputs.machineConfiguration);
  const state: Omit<AppliedMachineConfigState, "joins"> = { ...inputs, ...seen, configHash, state: "ours", drift: [] };
  return { did, state };
}

/** The node as it is, which runs a config already. Nothing is sent to it. */
async function adopt(
  { adopts: _, ...inputs }: AppliedMachineConfigInputs,
  { access, ...context }: NodeResourceContext,
): Promise<AppliedMachineConfigState> {
  const { node, talosAddress, credentials, identity, role } = inputs;
  const refusal = (seen: string) =>
    new SluiceError({ code: "SLU-A101", where: node, what: "a node of the running cluster", seen });
  const seen = await look(inputs, { access, ...context }).catch(notSeen);
  if (seen.state === "maintenance") throw refusal("it is in maintenance, without a config");
  if (seen.state !== "ours") throw refusal(seen.why);
  const fault = await using(access.configured(talosAddress, credentials), (client) => identityFault(client, identity));
  if (fault !== undefined) throw refusal(fault);
  const type = machineSection(seen.config)?.type;
  if (type !== role) throw refusal(`it runs as ${type}, but should be ${role}`);
  return { ...inputs, ...newsOfOurs(inputs, seen), attempts: 1, joins: 0 };
}

/** Whether a run found the loss of the config and has not sent it again yet. A refresh passes the same input once more. */
function hasLostConfig(olds: AppliedMachineConfigState, { lostConfigIn: run }: AppliedMachineConfigInputs): boolean {
  return run !== undefined && !isUnknown(run) && run !== olds.lostConfigIn;
}

/** The config that the node runs, as far as it is known. */
function configOf({ found, machineConfiguration }: AppliedMachineConfigState): string {
  return found ?? machineConfiguration;
}

/** Whether the node is to get another config. */
function isWritten(olds: AppliedMachineConfigState, { machineConfiguration: is }: AppliedMachineConfigInputs): boolean {
  const was = configOf(olds);
  return was !== is && (isUnknown(is) || !isSameConfig(was, is));
}

/**
 * What the config changes besides the version of Kubernetes, which the node runs by then. All lines of it if the contract changes: what follows from that is not
 * what a user has written.
 */
function summary(
  olds: AppliedMachineConfigState,
  { node, machineConfiguration: is, contract }: AppliedMachineConfigInputs,
): readonly Note[] {
  const was = upgraded(configOf(olds), is);
  const isComplete = olds.contract !== contract;
  return isSameConfig(was, is) ? [] : [{ text: configSummary(node, was, is, { isComplete }), as: "info" }];
}

/**
 * Earlier versions took the contract from talosVersion and did not record it: then it was the one of the installer in the config. A cluster that was upgraded
 * since its machine secrets were made would get that of its first Talos now. A refresh passes the state's own inputs, which have none.
 */
function otherContract(
  { contract: recorded, node, machineConfiguration }: AppliedMachineConfigState,
  contract: string | undefined,
) {
  if (recorded !== undefined || contract === undefined) return undefined;
  const installed = wantedTalos(machineConfiguration)?.version;
  const was = installed === undefined ? contract : talosContract(installed);
  if (was === contract) return undefined;
  return new SluiceError({
    code: "SLU-T241",
    where: node,
    what: `its machine config to keep contract ${was}, with which it was generated so far`,
    seen: `it would be generated with ${contract}`,
    remedy: `Set \`configContract: ${was}\` and run \`npm run up -- <environment>\` once, which records it. After that the key can be removed, or changed.`,
  });
}

/** A node that answers with an error does answer, and what it reports can be fixed. */
function notSeen(error: unknown) {
  const { code, seen: why, retryable } = asFailure(error, "SLU-T106");
  return { state: "silent" as const, why, ...(!retryable && { code }) };
}

type Seen = Exclude<Awaited<ReturnType<typeof look>>, { state: "silent" }>;

/** What is known of a node that answered. */
function newsOf(props: AppliedMachineConfigState, seen: Seen) {
  if (seen.state === "foreign") return { state: seen.state, drift: [`belongs to another cluster: ${seen.why}`] };
  if (seen.state === "maintenance") return { state: seen.state, drift: ["is in maintenance, without a config"] };
  return newsOfOurs(props, seen);
}

function newsOfOurs(
  props: Pick<AppliedMachineConfigInputs, "machineConfiguration" | "imageSchematic">,
  { config, ...talos }: Extract<Seen, { state: "ours" }>,
) {
  const sent = props.machineConfiguration;
  const isSent = isSameConfig(config, sent);
  // Another Talos is found by the resource that upgrades it.
  const drift = configDrift(sent, config);
  return { ...talos, ...(!isSent && { found: config }), configHash: sha256(isSent ? sent : config), drift };
}

async function look(
  props: Pick<AppliedMachineConfigInputs, "talosAddress" | "credentials">,
  { access, clock }: Pick<NodeResourceContext, "access" | "clock">,
) {
  const { talosAddress, credentials } = props;
  const options = { deadlineSeconds: readDeadlineSeconds };
  const asked = (async () => {
    const state = await access.probe(talosAddress, credentials);
    if (state.kind === "unreachable" || state.kind === "invalid") return { state: "silent" as const, why: state.why };
    if (state.kind === "settling") return { state: "silent" as const, why: `it is in stage ${state.stage}` };
    if (state.kind === "foreign") return { state: state.kind, why: state.why };
    if (state.kind === "maintenance") return { state: state.kind };
    return await using(access.configured(talosAddress, credentials), async (client) => {
      const [config = "", found] = await Promise.all([runningConfig(client, options), lookAt(client, options)]);
      return { state: state.kind, config, ...found };
    });
  })();
  return await withDeadline(
    clock,
    readDeadlineSeconds * 1000,
    asked,
    () => new SluiceError({ code: "SLU-T106", seen: `no answer within ${readDeadlineSeconds} s`, retryable: true }),
  );
}

/** An upgrade takes more than a config: it comes before, for the nodes of which the state knows that they need one. */
function refuseOtherTalos(
  { node, machineConfiguration, imageSchematic }: AppliedMachineConfigInputs,
  { attempts, ...running }: RunningTalos & { readonly attempts: number },
  seconds: number,
): void {
  const wanted = wantedTalos(machineConfiguration);
  const faults = wanted === undefined ? [] : talosFaults(running, wanted, imageSchematic);
  if (wanted === undefined || faults.length === 0) return;
  const failure = new SluiceError({
    code: "SLU-T212",
    seen: faults.join("; "),
    remedy: upgradeRemedy,
  });
  const what = `the node to run Talos ${wanted.version}`;
  throw endFailure(failure, { node, what, state: "ours", attempts, seconds });
}

/** Everything by which the node is reached and identified: a refresh needs the current values. */
function reach({ talosAddress, credentials, identity, role }: AppliedMachineConfigInputs): string {
  return JSON.stringify([talosAddress, credentials.ca, credentials.crt, credentials.key, identity, role]);
}
