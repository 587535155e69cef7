// Takes what was found into the state: all of it, or nothing.
import { type ExportedResource, stackRecord } from "../../components/lifecycle/orphans.ts";
import { record, text } from "../../components/model/untyped.ts";
import { adoptionVariable, type FoundCluster } from "../../stacks/adoption.ts";
import type { FoundMachines, FoundResource } from "../../stacks/platforms/foundMachines.ts";
import type { PlatformAdoption } from "../../stacks/platforms/platform.ts";
import { EventLog } from "../base/eventLog.ts";
import { Failure } from "../base/fail.ts";
import { root } from "../base/paths.ts";
import { reporting } from "../base/reporting.ts";
import { type Ended, passReportsOn, run } from "../base/run.ts";
import { engineCall } from "../stack/engine.ts";
import type { Stack } from "../stack/stack.ts";
import type { Toolchain } from "../toolchain/toolchain.ts";
import { noChanges, type PlannedChanges, plannedChanges } from "./plannedChanges.ts";
import { stateEntries } from "./stateEntries.ts";

export interface Found {
  readonly machines: FoundMachines;
  readonly resources: readonly FoundResource[];
}

/** `isKept` decides by what the next `up` would change on the platform; otherwise the state is as it was. Returns these changes. */
export async function recordCluster(
  toolchain: Toolchain,
  stack: Stack,
  found: Found,
  planned: PlatformAdoption["planned"],
  isKept: (changes: PlannedChanges) => boolean,
): Promise<PlannedChanges> {
  const call: Call = (args, options = {}) => inEngine(toolchain, stack, args, options);
  const before = needed(await call(["stack", "export"])).stdout;
  const restore = async () => void needed(await call(["stack", "import"], { input: before }));
  try {
    await reporting("taking the nodes into the state", async () => {
      const program: FoundCluster = { machines: found.machines, components: componentsOf(found.resources) };
      needed(await call(["up", ...quiet], { variables: { [adoptionVariable]: JSON.stringify(program) } }));
    });
    const added = await reporting("taking what plugins manage into the state", () => addToState(call, found.resources));
    const own = added.filter(({ type }) => !isInCluster(text(type))).map(({ urn }) => text(urn));
    const changes =
      planned === undefined || own.length === 0
        ? noChanges
        : await reporting("previewing what the next 'up' changes on the platform", () =>
            preview(call, new Set(own), planned),
          );
    if (!isKept(changes)) await restore();
    return changes;
  } catch (error) {
    await restore();
    throw new Failure(
      `the cluster could not be taken into the state, which is as it was:\n${(error as Error).message}`,
    );
  }
}

const quiet = ["--yes", "--skip-preview", "--suppress-outputs", "--color", "never"];

type Call = (args: readonly string[], options?: CallOptions) => Promise<Ended>;

interface CallOptions {
  readonly variables?: NodeJS.ProcessEnv;
  readonly input?: string;
}

/** Those that an interrupted adoption has added already are left as they are. */
async function addToState(call: Call, resources: readonly FoundResource[]): Promise<readonly ExportedResource[]> {
  if (resources.length === 0) return [];
  const state = record(JSON.parse(needed(await call(["stack", "export"])).stdout));
  const { resources: kept } = stackRecord(state.deployment);
  const known = new Set(kept.map(({ urn }) => urn));
  const entries = stateEntries(resources, kept);
  const added = entries.filter(({ urn }) => !known.has(urn));
  const deployment = { ...record(state.deployment), resources: [...kept, ...added] };
  needed(await call(["stack", "import"], { input: JSON.stringify({ ...state, deployment }) }));
  needed(await call(["refresh", ...quiet, ...entries.flatMap(({ urn }) => ["--target", urn])]));
  return entries;
}

async function preview(
  call: Call,
  urns: ReadonlySet<string>,
  planned: NonNullable<PlatformAdoption["planned"]>,
): Promise<PlannedChanges> {
  const log = new EventLog();
  try {
    // The engine has the option only with this variable.
    const variables = { PULUMI_DEBUG_COMMANDS: "true" };
    needed(await call(["preview", "--event-log", log.path, "--suppress-outputs", "--color", "never"], { variables }));
    return plannedChanges(log.whole().toString(), urns, planned);
  } finally {
    log.close();
  }
}

function isInCluster(type: string): boolean {
  return type.startsWith("kubernetes:");
}

function componentsOf(resources: readonly FoundResource[]): FoundCluster["components"] {
  const all = resources.map(({ type, component }) => {
    return { ...component, of: isInCluster(type) ? ("cluster" as const) : ("platform" as const) };
  });
  return [...new Map(all.map((one) => [`${one.type} ${one.name}`, one])).values()];
}

function needed(ended: Ended): Ended {
  if (ended.code !== 0) throw new Error(`${ended.stdout}${ended.stderr}`.trim());
  return ended;
}

async function inEngine(
  toolchain: Toolchain,
  stack: Stack,
  args: readonly string[],
  { variables = {}, input }: CallOptions,
): Promise<Ended> {
  const selection = args[0] === "stack" ? ["--stack", stack.name] : stack.options;
  const call = await engineCall(toolchain, stack, [...args, ...selection]);
  const options = { cwd: root, env: { ...call.env, ...variables }, onOutput: passReportsOn };
  return run(call.program, call.args, input === undefined ? options : { ...options, input });
}
