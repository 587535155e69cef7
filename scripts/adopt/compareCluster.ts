// Compares a running cluster with what an `up` of its environment would make of it. Only reads.
import type { TalosCredentials } from "../../components/talos/client/talosClient.ts";
import type { SecretsBundle } from "../../components/talos/secrets/secretsBundle.ts";
import type { FoundPlatform } from "../../stacks/platforms/foundMachines.ts";
import type { ClusterConfig } from "../../stacks/schema/clusterConfig.ts";
import { Failure } from "../base/fail.ts";
import { runInside } from "../inspect/inLab.ts";
import { type Generator, startGenerator } from "../render/generator.ts";
import type { Stack } from "../stack/stack.ts";
import { type Toolchain, talosPlugin } from "../toolchain/toolchain.ts";
import { clusterFaults, runningNodes } from "./clusterFaults.ts";
import { configDifferences } from "./compareNodes.ts";
import { keepingPatches } from "./keepingPatches.ts";
import type { ClusterLook, ExpectedNode } from "./lookAtCluster.ts";
import type { LookCall } from "./lookInside.ts";
import { programReleases } from "./programReleases.ts";
import { noReleases, releaseFindings, signsOf } from "./releaseFindings.ts";
import type { Comparison } from "./report.ts";
import { credentialsOf, wantedConfigs } from "./wantedConfigs.ts";

/** The environment, with its secrets and its machines. */
export interface Described {
  readonly config: ClusterConfig;
  readonly bundle: SecretsBundle;
  readonly platform: FoundPlatform;
}

/** A node that does not answer takes seconds, and each call has its own deadline. */
const lookTimeoutMs = 90_000;

export async function compareCluster(toolchain: Toolchain, stack: Stack, described: Described): Promise<Comparison> {
  const generator = await startGenerator(await talosPlugin());
  try {
    const look = (credentials: TalosCredentials, nodes: readonly ExpectedNode[], paths: readonly string[]) =>
      lookInside(toolchain, stack, { nodes, credentials, paths });
    return await compare(described, generator, look);
  } finally {
    generator.stop();
  }
}

type Look = (
  credentials: TalosCredentials,
  nodes: readonly ExpectedNode[],
  paths: readonly string[],
) => Promise<ClusterLook>;

async function compare({ config, bundle, platform }: Described, generator: Generator, look: Look): Promise<Comparison> {
  const configsOf = (one: ClusterConfig) => wantedConfigs(one, platform.machines, bundle, generator);
  const [credentials, wanted, wantedReleases] = await Promise.all([
    credentialsOf(bundle, generator),
    configsOf(config),
    programReleases(config),
  ]);
  const nodes = config.nodes.flatMap(({ name, role, address }): readonly ExpectedNode[] => {
    const machine = platform.machines.byNode[name];
    return machine === undefined ? [] : [{ name, role, address, ...machine }];
  });
  const seen = await look(credentials, nodes, signsOf(wantedReleases));
  const { kubernetes } = seen;
  const running = runningNodes(seen);
  const releases = typeof kubernetes === "string" ? noReleases : releaseFindings(wantedReleases, kubernetes);
  const suggested = keepingPatches(running, wanted);
  const patched = {
    ...config,
    patches: [...config.patches, ...suggested.patches],
    secretPatches: [...config.secretPatches, ...suggested.secretPatches],
  };
  return {
    nodes: running,
    faults: [...platform.faults, ...clusterFaults(nodes, seen), ...releases.faults],
    configs: configDifferences(running, wanted),
    // Talos' own generator decides what the patches achieve.
    left: configDifferences(running, await configsOf(patched)),
    suggested,
    releases,
    notes: platform.notes ?? [],
  };
}

async function lookInside(toolchain: Toolchain, { name, lab }: Stack, input: LookCall): Promise<ClusterLook> {
  const ended = await runInside({ toolchain, name, lab }, "adopt/lookInside.ts", input, { timeoutMs: lookTimeoutMs });
  if (ended.code === 0) return JSON.parse(ended.stdout);
  throw new Failure(`the cluster of ${name} cannot be observed:\n${ended.stderr.trim()}`);
}
