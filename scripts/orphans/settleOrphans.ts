// Before a run: adopts into the state, or reports, what an earlier run created and could not record. docs/decisions/orphans.md
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { UnfinishedRelease } from "../../components/kubernetes/releaseRecords.ts";
import type { CreatedResources } from "../../components/lifecycle/createdResource.ts";
import {
  findOrphans,
  type Orphans,
  type RunTime,
  type StackRecord,
  stackRecord,
} from "../../components/lifecycle/orphans.ts";
import { list, record, text } from "../../components/model/untyped.ts";
import type { Platform, PlatformAccount } from "../../stacks/platforms/platform.ts";
import type { ClusterConfig } from "../../stacks/schema/clusterConfig.ts";
import { settingsFile } from "../base/environments.ts";
import { Failure } from "../base/fail.ts";
import { root } from "../base/paths.ts";
import { passReportsOn, run } from "../base/run.ts";
import { deploymentOf } from "../stack/deployment.ts";
import { callBesideEngine, engineCall } from "../stack/engine.ts";
import { releaseOf, settleReleases } from "../stack/releases.ts";
import type { Stack } from "../stack/stack.ts";
import { stackConfig } from "../stack/stackConfig.ts";
import type { Toolchain } from "../toolchain/toolchain.ts";
import { type Adopted, adopt, type EngineAccess } from "./adoption.ts";
import { markKilledUpdates } from "./killedUpdates.ts";
import type { ListingCall } from "./list.ts";

export type SettledCommand = "up" | "refresh" | "destroy";

const nothing: CreatedResources = { component: "", resources: [], blockers: [] };

/** Each call of the API has a deadline of its own; what an earlier run started to create may take longer. */
const listingTimeoutMs = 180_000;

const listing = join(root, "scripts", "orphans", "list.ts");

/** Never fails a run that can do without it; refuses a `destroy` that would wait in vain for resources of others. */
export async function settleOrphans(toolchain: Toolchain, stack: Stack, command: SettledCommand): Promise<void> {
  const state = await readState(toolchain, stack);
  if (state === undefined) return;
  const call = (args: readonly string[], input?: string) => inEngine(toolchain, stack, args, input);
  await markKilledUpdates(state, { call });
  const found = await createdFor(toolchain, stack, state);
  if (found === undefined) return;
  const created = command === "destroy" ? found : withoutOverwritten(found);
  if (command === "up") await settleReleases(toolchain, stack, interruptedReleases(state));
  // The engine takes a while to list its runs, and nearly always there is no doubt.
  const runs = findOrphans(created, state).doubted.length === 0 ? [] : await runTimes(call);
  const seen = findOrphans(created, { ...state, runs });
  const isSettled = seen.adopted.length === 0 && state.pending.length === 0;
  const adopted = isSettled ? { orphans: seen } : await adopt(created, { call, runs });
  report(adopted);
  if (command === "destroy") needFree(adopted.orphans, stack.name);
}

/** Of the newest updates that the engine ended itself, whatever their result. A killed one is not among them. */
async function runTimes(call: EngineAccess["call"]): Promise<readonly RunTime[]> {
  const listed = await call(["stack", "history", "--json"]);
  if (listed.code !== 0) return [];
  return list(JSON.parse(listed.stdout)).flatMap((entry) => {
    const { kind, startTime, endTime } = record(entry);
    return kind === "update" ? [{ began: Date.parse(text(startTime)), ended: Date.parse(text(endTime)) }] : [];
  });
}

/** What an `up` creates again over what is there. */
function withoutOverwritten(created: CreatedResources): CreatedResources {
  return { ...created, resources: created.resources.filter(({ isOverwritten }) => isOverwritten !== true) };
}

/** Those that a killed run had started to install or to change. */
export function interruptedReleases({ pending }: StackRecord): readonly UnfinishedRelease[] {
  return pending.flatMap(({ type: operation, resource }) => {
    const { type, inputs } = record(resource);
    const release = releaseOf(type, inputs);
    return release === undefined ? [] : [{ ...release, isInState: operation !== "creating" }];
  });
}

/** What exists and is in no state, for a command that changes nothing. */
export async function orphanTitles(toolchain: Toolchain, stack: Stack): Promise<readonly string[]> {
  const state = await readState(toolchain, stack);
  const created = state && (await createdFor(toolchain, stack, state));
  if (state === undefined || created === undefined) return [];
  const { adopted, doubted } = findOrphans(created, state);
  return [...adopted, ...doubted].map(({ orphan }) => orphan.title);
}

/** What the platform has of the cluster; undefined if nothing could be checked. */
async function createdFor(
  toolchain: Toolchain,
  stack: Stack,
  state: StackRecord,
): Promise<CreatedResources | undefined> {
  const config = await stackConfig(stack);
  const cluster = config === undefined ? clusterIn(state) : clusterFrom(config);
  if (cluster === undefined) return undefined;
  const platform = await platformNamed(cluster.place.kind);
  // Nothing is created there: what is left of a killed run is its note of what it had started.
  if (platform?.createdResources === undefined || platform.account === undefined) return nothing;
  const known = Object.fromEntries(
    state.resources.flatMap(({ id, urn }) => (typeof id === "string" ? [[id, nameIn(text(urn))]] : [])),
  );
  return await listCreated(toolchain, stack, platform.account, { ...cluster, known });
}

function nameIn(urn: string): string {
  return urn.slice(urn.lastIndexOf("::") + 2);
}

async function platformNamed(kind: string): Promise<Platform | undefined> {
  const { allPlatforms } = await import("../../stacks/platforms/registry.ts");
  return allPlatforms.find(({ name }) => name === kind);
}

export async function readState(toolchain: Toolchain, stack: Stack): Promise<StackRecord | undefined> {
  const deployment = await deploymentOf(toolchain, stack);
  return deployment === undefined ? undefined : stackRecord(deployment);
}

type Cluster = Pick<ListingCall, "place" | "entries">;

/** What a listing needs to know of an environment. */
export function clusterFrom(config: ClusterConfig): Cluster {
  const { platform, nodes } = config;
  const entries = Object.fromEntries(nodes.map((node) => [node.name, platform.machineEntry(node, config)]));
  return { place: platform.place(config), entries };
}

/** From the state, for a `destroy` without the environment's file. */
function clusterIn({ resources }: StackRecord): Cluster | undefined {
  const all = resources.map(({ inputs }) => record(inputs));
  const guard = all.find(({ place }) => typeof record(place).kind === "string");
  return guard && ({ place: guard.place, entries: record(guard.machines) } as Cluster);
}

/** Undefined without a token or an answer. */
async function listCreated(
  toolchain: Toolchain,
  stack: Stack,
  account: PlatformAccount,
  cluster: Omit<ListingCall, "token" | "variable">,
): Promise<CreatedResources | undefined> {
  const { key, variable } = account.token;
  const token = stack.lab === undefined ? await tokenIn(toolchain, stack, key) : undefined;
  const call = await callBesideEngine(stack, process.execPath, [listing]);
  const input: ListingCall = { ...cluster, variable, ...(token !== undefined && { token }) };
  const listed = await run(call.program, call.args, {
    cwd: root,
    env: call.env,
    input: JSON.stringify(input),
    timeout: listingTimeoutMs,
    onOutput: passReportsOn,
  });
  if (listed.code === 0) return listed.stdout === "" ? undefined : JSON.parse(listed.stdout);
  const reason = listed.cut === undefined ? lastLine(listed.stderr) : `no answer within ${listingTimeoutMs / 1000} s`;
  console.error(`sluice: could not check whether an earlier run left anything that is in no state: ${reason}`);
  return undefined;
}

/** The line that says why a program of Sluice failed. */
export function lastLine(text: string): string {
  const [line = ""] = /^\w*Error: .*/m.exec(text) ?? [];
  return line === "" ? (text.trim().split("\n").at(-1) ?? "") : line;
}

/** The provider's own key in the environment's file, which only the CLI can decrypt. */
export async function tokenIn(toolchain: Toolchain, stack: Stack, key: string): Promise<string | undefined> {
  const settings = await readFile(await settingsFile(stack.name), "utf8");
  if (!new RegExp(`^\\s*["']?${key}["']?\\s*:`, "m").test(settings)) return undefined;
  const said = await run(toolchain.pulumi, ["config", "get", key, ...stack.options], {
    cwd: root,
    env: stack.environment,
  });
  return said.code === 0 ? said.stdout.trim() : undefined;
}

async function inEngine(toolchain: Toolchain, stack: Stack, args: readonly string[], input?: string) {
  // Of these only a refresh has settings, and only it reaches the platform.
  const selection = args[0] === "stack" ? ["--stack", stack.name] : stack.options;
  const call = await engineCall(toolchain, stack, [...args, ...selection]);
  const options = { cwd: root, env: call.env, onOutput: passReportsOn };
  return run(call.program, call.args, input === undefined ? options : { ...options, input });
}

function report({ orphans, failure }: Adopted): void {
  for (const { orphan } of orphans.adopted) {
    console.error(
      failure === undefined
        ? `sluice: ${orphan.title} was created by an earlier run that could not record it: adopted into the state`
        : `sluice: ${orphan.title} was created by an earlier run that could not record it, and could not be adopted. To delete it: ${orphan.removal}`,
    );
  }
  if (failure !== undefined) console.error(`sluice: the engine's reason: ${failure}`);
  for (const { orphan, reason } of orphans.doubted) {
    console.error(
      `sluice: ${orphan.title} has the mark of this cluster and is in no state; not adopted, because ${reason}. If nobody needs it: ${orphan.removal}`,
    );
  }
}

/** The plugin would silently wait for these for many minutes. */
function needFree({ blockers }: Orphans, name: string): void {
  if (blockers.length === 0) return;
  const lines = blockers.map(({ title, removal }) => `  ${title}: ${removal}`);
  throw new Failure(
    `the network of ${name} cannot be deleted while something else is in it. Detach or delete it, then run this again:\n${lines.join("\n")}`,
  );
}
