// What the engine asks of a NodeConfiguration. Loaded from the checkout, so that the current code runs and not what a state keeps.
import { createHash } from "node:crypto";
import type { FailureCode } from "../errors/catalogue.ts";
import type { Peer } from "../lifecycle/kubernetesAccess.ts";
import type { MachineIdentity } from "../machines/machine.ts";
import type { Role } from "../machines/node.ts";
import type { TalosCredentials } from "./client/talosClient.ts";
import { isSameConfig } from "./configDiff.ts";
import { configDrift } from "./configDrift.ts";
import { configSummary } from "./configSummary.ts";
import { configureNode } from "./configureNode.ts";
import { isUnknown } from "./isUnknown.ts";
import { using } from "./nodeAccess.ts";
import { asFailure, endMessage, NodeFailure } from "./nodeFailure.ts";
import { lookAt, type NodeLook, runningConfig } from "./nodeResources.ts";
import type { RetryPolicy } from "./retry.ts";
import { inEngine, type Surroundings } from "./surroundings.ts";
import { type RunningTalos, talosFaults, upgradeRemedy, wantedTalos } from "./wantedTalos.ts";

/** As the resource hands them in. */
export interface NodeConfigurationInputs {
  readonly node: string;
  readonly role: Role;
  readonly endpoint: string;
  readonly address: string;
  /** Who else there is does not change the node, so it is no difference. */
  readonly peers: readonly Peer[];
  readonly machineConfiguration: string;
  readonly credentials: TalosCredentials;
  readonly identity: MachineIdentity;
  readonly machineId: string;
  /** Of the image that the machine was made from. */
  readonly imageSchematic?: string | undefined;
  readonly retry: RetryPolicy;
  readonly deadline: number;
  /** The resource's own URN, for its row. */
  readonly row: string;
}

export interface NodeConfigurationState extends NodeConfigurationInputs, NodeLook {
  /** What the node was found to run on refresh, where that is something else than it was sent: a preview shows what drifted. Secret. */
  readonly found?: string | undefined;
  /** Of the config that the node runs. */
  readonly configHash: string;
  /** What the node was to us when it was looked at last. */
  readonly state: "ours" | "maintenance" | "foreign";
  /** How many tries its config took the last time (S1.5). */
  readonly attempts: number;
  /** Why the try before the last one failed, where there was one: a code of the catalogue. */
  readonly lastError?: FailureCode;
  /** What a refresh found not to be as it was left, in words, secrets masked. */
  readonly drift: readonly string[];
}

/** Seconds for all that a refresh asks of a node: also of one that is gone. */
const readDeadline = 5;

/** The four calls, with the world given; the engine gets them with the real one, below. */
export const operations = {
  async create(inputs: NodeConfigurationInputs, world: Surroundings) {
    return { id: inputs.node, outs: await applied(inputs, world) };
  },

  /** Whatever changed of the inputs, the node is asked what it runs: where that is what is wanted, nothing is written. */
  async update(news: NodeConfigurationInputs, world: Surroundings) {
    return { outs: await applied(news, world) };
  },

  /** Offline. In a preview this is where a person reads what would change on the node. */
  async diff(olds: NodeConfigurationState, news: NodeConfigurationInputs, world: Pick<Surroundings, "note">) {
    const [was, is] = [olds.found ?? olds.machineConfiguration, news.machineConfiguration];
    const isOther = olds.machineId !== news.machineId;
    const isWritten = was !== is && (isUnknown(is) || !isSameConfig(was, is));
    if (isWritten && !isUnknown(is) && !isOther) await world.note(configSummary(news.node, was, is), "info");
    return {
      changes: isOther || isWritten || olds.drift.length > 0 || reach(olds) !== reach(news),
      replaces: isOther ? ["machineId"] : [],
    };
  },

  /** One look, bounded. A node that does not answer stays in the state: it is there, and not lost with the connection. */
  async read(id: string, props: NodeConfigurationState, world: Surroundings) {
    const seen = await look(props, world).catch(notSeen);
    if (seen.state === "silent") {
      const what = "code" in seen ? `could not be looked at (${seen.code})` : "does not answer";
      await world.note(`${props.node} ${what}: ${seen.why}. What is known of it is kept.`, "warning");
      return { id, props };
    }
    const news = newsOf(props, seen);
    if (news.drift.length > 0) await world.note(`${props.node}: ${news.drift.join("; ")}`, "warning");
    // Not as undefined: the engine takes no such value.
    const { found: _, ...rest } = props;
    return { id, props: { ...rest, ...news } };
  },
};

export const create = (inputs: NodeConfigurationInputs) =>
  inEngine(inputs.row, (world) => operations.create(inputs, world), outcome);
export const update = (_id: string, _olds: NodeConfigurationState, news: NodeConfigurationInputs) =>
  inEngine(news.row, (world) => operations.update(news, world), outcome);
export const diff = (_id: string, olds: NodeConfigurationState, news: NodeConfigurationInputs) =>
  inEngine(news.row, (world) => operations.diff(olds, news, world));
export const read = (id: string, props: NodeConfigurationState) =>
  inEngine(props.row, (world) => operations.read(id, props, world));

function outcome({ outs: { version, stage } }: { readonly outs: NodeConfigurationState }): string {
  return `runs its config: Talos ${version}, ${stage}`;
}

/** A node that answers with an error does answer, and what it says can be mended. */
function notSeen(error: unknown) {
  const { code, seen: why, passing } = asFailure(error, "SLU-T106");
  return { state: "silent" as const, why, ...(!passing && { code }) };
}

type Seen = Exclude<Awaited<ReturnType<typeof look>>, { state: "silent" }>;

/** What is known of a node that answered. */
function newsOf(props: NodeConfigurationState, seen: Seen) {
  if (seen.state === "foreign") return { state: seen.state, drift: [`belongs to another cluster: ${seen.why}`] };
  if (seen.state === "maintenance") return { state: seen.state, drift: ["is in maintenance, without a config"] };
  const { config, ...talos } = seen;
  const sent = props.machineConfiguration;
  const isSent = isSameConfig(config, sent);
  const wanted = wantedTalos(sent);
  const drift = [
    ...configDrift(sent, config),
    ...(wanted === undefined ? [] : talosFaults(talos, wanted, props.imageSchematic)),
  ];
  return { ...talos, ...(!isSent && { found: config }), configHash: hash(isSent ? sent : config), drift };
}

async function look(props: NodeConfigurationState, { access, clock }: Surroundings) {
  const { endpoint, credentials } = props;
  const options = { deadline: readDeadline };
  const asked = (async () => {
    const state = await access.probe(endpoint, credentials);
    if (state.kind === "unreachable" || state.kind === "invalid") return { state: "silent" as const, why: state.why };
    if (state.kind === "settling") return { state: "silent" as const, why: `it is in stage ${state.stage}` };
    if (state.kind === "foreign") return { state: state.kind, why: state.why };
    if (state.kind === "maintenance") return { state: state.kind };
    return await using(access.configured(endpoint, credentials), async (client) => {
      const [config = "", found] = await Promise.all([runningConfig(client, options), lookAt(client, options)]);
      return { state: state.kind, config, ...found };
    });
  })();
  return await new Promise<Awaited<typeof asked>>((done, fail) => {
    const late = new NodeFailure("SLU-T106", `no answer within ${readDeadline} s`, { passing: true });
    const takeBack = clock.after(readDeadline * 1000, () => fail(late));
    asked.then(done, fail).finally(takeBack);
  });
}

async function applied(inputs: NodeConfigurationInputs, world: Surroundings): Promise<NodeConfigurationState> {
  const { machineConfiguration: config, ...target } = inputs;
  const began = world.clock.now();
  const { version, schematic, stage, attempts, lastError } = await configureNode({ ...target, config }, world);
  const seconds = (world.clock.now() - began) / 1000;
  refuseOtherTalos(inputs, { version, schematic, stage }, { state: "ours", attempts, seconds });
  if (attempts > 1) await world.note(`${inputs.node} runs its config after ${attempts} tries`, "info");
  const tries = { attempts, ...(lastError !== undefined && { lastError }) };
  return { ...inputs, version, schematic, stage, configHash: hash(config), state: "ours", ...tries, drift: [] };
}

/** An upgrade reboots the node and may not be a step that Talos takes, so it is not done in passing: it is said what to type. */
function refuseOtherTalos(
  { node, address, machineConfiguration, imageSchematic }: NodeConfigurationInputs,
  running: RunningTalos,
  seen: { readonly state: string; readonly attempts: number; readonly seconds: number },
): void {
  const wanted = wantedTalos(machineConfiguration);
  const faults = wanted === undefined ? [] : talosFaults(running, wanted, imageSchematic);
  if (wanted === undefined || faults.length === 0) return;
  const failure = new NodeFailure("SLU-T212", faults.join("; "), { remedy: upgradeRemedy(address, wanted) });
  throw new Error(endMessage(failure, { node, what: `the node to run Talos ${wanted.version}`, ...seen }));
}

/** All by which the node is reached and known: what read is given must be up to date. */
function reach({ endpoint, credentials, identity, role }: NodeConfigurationInputs): string {
  return JSON.stringify([endpoint, credentials.ca, credentials.crt, credentials.key, identity, role]);
}

function hash(config: string): string {
  return createHash("sha256").update(config).digest("hex");
}
