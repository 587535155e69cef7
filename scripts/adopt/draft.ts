// `npm run adopt -- <environment> --draft`: writes an environment's file from a running cluster.
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { stringify } from "yaml";
import { count } from "../../components/model/count.ts";
import { mergeValues } from "../../components/platform/mergeValues.ts";
import type { SecretsBundle } from "../../components/talos/secrets/secretsBundle.ts";
import { ConfigError } from "../../stacks/base/fault.ts";
import { parseClusterConfig } from "../../stacks/config/config.ts";
import type { FoundMachines } from "../../stacks/platforms/foundMachines.ts";
import type { ClusterConfig } from "../../stacks/schema/clusterConfig.ts";
import { Failure } from "../base/fail.ts";
import { root } from "../base/paths.ts";
import { reporting } from "../base/reporting.ts";
import { runInside } from "../inspect/inLab.ts";
import { labCharts } from "../lab/labFolders.ts";
import { type Generator, startGenerator } from "../render/generator.ts";
import { type ImportOptions, readSecrets } from "../secrets/importSecrets.ts";
import { prepareToolchain, talosPlugin } from "../toolchain/toolchain.ts";
import { runningNodes } from "./clusterFaults.ts";
import { configDifferences } from "./compareNodes.ts";
import type { DraftCall, DraftLook } from "./draftInside.ts";
import { type Draft, type DraftedNode, type DraftSettings, draftSettings, fluxOf } from "./draftSettings.ts";
import { keepingPatches } from "./keepingPatches.ts";
import { programReleases } from "./programReleases.ts";
import { keptReleases } from "./releaseFindings.ts";
import { credentialsOf, wantedConfigs } from "./wantedConfigs.ts";

export interface DraftOptions extends ImportOptions {
  /** By which control planes are reached. */
  readonly nodes: readonly string[];
  /** The lab that the cluster is on. */
  readonly lab: string | undefined;
}

/** Nodes are found first, and then read: each call has its own deadline. */
const lookTimeoutMs = 120_000;

const fluxSource = "/apis/source.toolkit.fluxcd.io/v1/namespaces/flux-system/gitrepositories/flux-system";
const fluxKustomization = "/apis/kustomize.toolkit.fluxcd.io/v1/namespaces/flux-system/kustomizations/flux-system";

export async function draft(environment: string, options: DraftOptions): Promise<void> {
  if (!/^[\w-]+$/.test(environment)) throw new Failure(`${environment}: a name has letters, digits, '-' and '_'.`);
  const file = join(root, `Pulumi.${environment}.yaml`);
  needNoFile(file);
  const { bundle } = await readSecrets(options);
  const generator = await startGenerator(await talosPlugin());
  try {
    const look = await reporting("observing the cluster", () => observe(environment, options, bundle, generator));
    const drafted = await reporting("drafting the environment", () => complete(look, bundle, generator, options.lab));
    needNoFile(file);
    // Never over a file that has appeared meanwhile.
    await writeFile(file, fileText(environment, drafted.settings), { flag: "wx" });
    report(environment, options.file, look, drafted);
  } finally {
    generator.stop();
  }
}

function needNoFile(file: string): void {
  if (existsSync(file)) throw new Failure(`${basename(file)} exists, and is never overwritten: choose another name.`);
}

async function observe(
  name: string,
  { nodes: seeds, lab }: DraftOptions,
  bundle: SecretsBundle,
  generator: Generator,
): Promise<DraftLook> {
  const toolchain = await prepareToolchain();
  const input: DraftCall = {
    seeds,
    credentials: await credentialsOf(bundle, generator),
    paths: [fluxSource, fluxKustomization],
  };
  const place = { toolchain, name, lab: lab === undefined ? undefined : { lab } };
  const ended = await runInside(place, "adopt/draftInside.ts", input, { timeoutMs: lookTimeoutMs });
  if (ended.code === 0) return JSON.parse(ended.stdout);
  throw new Failure(`the cluster cannot be observed through ${seeds.join(", ")}: ${ended.stderr.trim()}`);
}

/** The settings, with the patches and values that keep what runs. */
async function complete(
  look: DraftLook,
  bundle: SecretsBundle,
  generator: Generator,
  lab: string | undefined,
): Promise<Draft & { readonly secretPatches: number }> {
  const { expected, kubernetes } = look;
  const nodes = runningNodes(look).map((node): DraftedNode => {
    const { address = "" } = expected.find(({ name }) => name === node.name) ?? {};
    return { ...node, address };
  });
  if (typeof kubernetes === "string") throw new Failure(`the Kubernetes API does not answer: ${kubernetes}`);
  const { objects, releases } = kubernetes;
  const hasFlux = releases.some(({ namespace, name }) => namespace === "flux-system" && name === "flux");
  const first = draftSettings({
    nodes,
    flux: hasFlux ? fluxOf(objects[fluxSource], objects[fluxKustomization]) : undefined,
  });
  const onLab = lab === undefined ? {} : { charts: { path: labCharts }, lab: { name: lab } };
  const settings = { ...first.settings, ...onLab };
  const config = parsed(settings);
  if (config instanceof ConfigError) return { settings, doubts: [...first.doubts, config.message], secretPatches: 0 };
  const machines: FoundMachines = { byNode: {} };
  const { contract, wanted } = await bestContract(config, nodes, (one) =>
    wantedConfigs(one, machines, bundle, generator),
  );
  const { patches, secretPatches } = keepingPatches(nodes, wanted);
  const kept = keptReleases(await programReleases(config), kubernetes);
  return {
    settings: { ...mergeValues({ ...settings, ...contract }, kept), ...(patches.length > 0 && { patches }) },
    doubts: first.doubts,
    secretPatches: secretPatches.length,
  };
}

function parsed(settings: DraftSettings): ClusterConfig | ConfigError {
  try {
    return parseClusterConfig({ ...settings });
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
}

/** A cluster that was upgraded may run configs of an older contract: the one with the fewest differences. */
async function bestContract(
  config: ClusterConfig,
  nodes: readonly DraftedNode[],
  configsOf: (config: ClusterConfig) => Promise<Readonly<Record<string, string>>>,
) {
  const [, minor = "0"] = /^1\.(\d+)\./.exec(config.talosVersion) ?? [];
  const older = [1, 2].map((steps) => `v1.${Number(minor) - steps}`);
  const candidates = await Promise.all(
    [undefined, ...older].map(async (configContract) => {
      const settings = configContract === undefined ? {} : { configContract };
      const wanted = await configsOf({ ...config, configContract }).catch(() => undefined);
      const differences = wanted && configDifferences(nodes, wanted).length;
      return { contract: settings, wanted: wanted ?? {}, differences: differences ?? Number.POSITIVE_INFINITY };
    }),
  );
  return candidates.reduce((best, one) => (one.differences < best.differences ? one : best));
}

function fileText(environment: string, settings: DraftSettings): string {
  const config = Object.fromEntries(Object.entries(settings).map(([key, value]) => [`sluice:${key}`, value]));
  const head = `# Drafted by 'npm run adopt -- ${environment} --draft' from the running cluster. docs/adopt.md\n`;
  return head + stringify({ config }, { lineWidth: 0, aliasDuplicateObjects: false });
}

function report(
  environment: string,
  secretsFile: string,
  { nodes }: DraftLook,
  { doubts, secretPatches }: Draft & { readonly secretPatches: number },
): void {
  const unseen = nodes.flatMap((node) => (node.kind === "refused" ? [`${node.name} is left out: it ${node.why}`] : []));
  const hidden =
    secretPatches === 0
      ? []
      : [
          `${count(secretPatches, "patch")} with secrets ${secretPatches === 1 ? "is" : "are"} left out: npm run adopt lists them`,
        ];
  for (const line of [...unseen, ...doubts, ...hidden]) console.log(`note: ${line}`);
  console.log(`Pulumi.${environment}.yaml describes ${count(nodes.length - unseen.length, "node")} of the cluster. Read it, then:

  npm run secrets -- import ${environment} --file ${secretsFile}
  npm run adopt -- ${environment}`);
}
