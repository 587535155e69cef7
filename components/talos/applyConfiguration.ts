// What the engine asks of a NodeConfiguration. Loaded from the checkout, so that the current code runs and not what a state keeps.
import { createHash } from "node:crypto";
import { unknownValue } from "@pulumi/pulumi/runtime/rpc.js";
import type { MachineIdentity } from "../machines/machine.ts";
import type { Role } from "../machines/node.ts";
import type { TalosCredentials } from "./client/talosClient.ts";
import { isSameConfig } from "./configDiff.ts";
import { configSummary } from "./configSummary.ts";
import { configureNode } from "./configureNode.ts";
import { using } from "./nodeAccess.ts";
import { lookAt, type NodeLook, runningConfig } from "./nodeResources.ts";
import type { RetryPolicy } from "./retry.ts";
import { inEngine, type Surroundings } from "./surroundings.ts";

/** As the resource hands them in. */
export interface NodeConfigurationInputs {
  readonly node: string;
  readonly role: Role;
  readonly endpoint: string;
  readonly machineConfiguration: string;
  readonly credentials: TalosCredentials;
  readonly identity: MachineIdentity;
  readonly machineId: string;
  readonly retry: RetryPolicy;
  readonly deadline: number;
  /** The resource's own URN, for its row. */
  readonly row: string;
}

export interface NodeConfigurationState extends NodeConfigurationInputs, NodeLook {
  /** What the node runs, as far as it is known: on refresh what was found, so that a preview shows what drifted. Secret. */
  readonly machineConfiguration: string;
  /** Of that config. */
  readonly configHash: string;
  /** What the node was to us when it was looked at last. */
  readonly state: "ours" | "maintenance" | "foreign";
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
    const [was, is] = [olds.machineConfiguration, news.machineConfiguration];
    const isOther = olds.machineId !== news.machineId;
    const isWritten = was !== is && !(isKnown(is) && isSameConfig(was, is));
    if (isWritten && isKnown(is) && !isOther) await world.note(configSummary(news.node, was, is), "info");
    return {
      changes: isOther || isWritten || olds.state !== "ours" || reach(olds) !== reach(news),
      replaces: isOther ? ["machineId"] : [],
    };
  },

  /** One look, bounded. A node that does not answer stays in the state: it is there, and not lost with the connection. */
  async read(id: string, props: NodeConfigurationState, world: Surroundings) {
    const seen = await look(props, world).catch(({ message }: Error) => ({ state: "silent" as const, why: message }));
    if (seen.state === "silent") {
      await world.note(`${props.node} does not answer: ${seen.why}. What is known of it is kept.`, "warning");
      return { id, props };
    }
    if (seen.state !== "ours") {
      const what = seen.state === "foreign" ? "belongs to another cluster" : "is in maintenance, without a config";
      await world.note(`${props.node} ${what}`, "warning");
      return { id, props: { ...props, state: seen.state } };
    }
    const { config, ...found } = seen;
    if (isSameConfig(config, props.machineConfiguration)) return { id, props: { ...props, ...found } };
    await world.note(`${props.node} runs another config than the one sent`, "warning");
    return { id, props: { ...props, ...found, machineConfiguration: config, configHash: hash(config) } };
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

async function look(props: NodeConfigurationState, { access, clock }: Surroundings) {
  const { endpoint, credentials } = props;
  const options = { deadline: readDeadline };
  const asked = (async () => {
    const state = await access.probe(endpoint, credentials);
    if (state.kind === "unreachable") return { state: "silent" as const, why: state.why };
    if (state.kind === "settling") return { state: "silent" as const, why: `it is in stage ${state.stage}` };
    if (state.kind !== "ours") return { state: state.kind };
    return await using(access.configured(endpoint, credentials), async (client) => {
      const [config = "", found] = await Promise.all([runningConfig(client, options), lookAt(client, options)]);
      return { state: state.kind, config, ...found };
    });
  })();
  return await new Promise<Awaited<typeof asked>>((done, fail) => {
    const takeBack = clock.after(readDeadline * 1000, () => fail(new Error(`no answer within ${readDeadline} s`)));
    asked.then(done, fail).finally(takeBack);
  });
}

async function applied(inputs: NodeConfigurationInputs, world: Surroundings): Promise<NodeConfigurationState> {
  const { machineConfiguration: config, ...target } = inputs;
  const { version, schematic, stage, attempts } = await configureNode({ ...target, config }, world);
  if (attempts > 1) await world.note(`${inputs.node} runs its config after ${attempts} tries`, "info");
  return { ...inputs, version, schematic, stage, configHash: hash(config), state: "ours" };
}

/** All by which the node is reached and known: what read is given must be up to date. */
function reach({ endpoint, credentials, identity, role }: NodeConfigurationInputs): string {
  return JSON.stringify([endpoint, credentials.ca, credentials.crt, credentials.key, identity, role]);
}

function isKnown(value: unknown): boolean {
  return value !== unknownValue;
}

function hash(config: string): string {
  return createHash("sha256").update(config).digest("hex");
}
