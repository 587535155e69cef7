// The two programs of the bench, each with a lab of its own.
import { join } from "node:path";
import { root } from "../../scripts/base/paths.ts";
import { stageCharts } from "../../scripts/lab/charts.ts";
import { labCharts } from "../../scripts/lab/labFolders.ts";
import type { BenchedProgram } from "../../scripts/tools/bench/figures.ts";
import type { BenchOptions } from "../../scripts/tools/bench/options.ts";
import { Chain, sealingKey } from "../lab/support/chain.ts";
import { type ChainEnvironment, environment, git, operator } from "../lab/support/chainEnvironment.ts";
import { Engine } from "../lab/support/engine.ts";
import { emptySchematic, Lab } from "../lab/support/lab.ts";

export type Size = Pick<BenchOptions, "controlPlanes" | "workers">;

export interface Benched {
  readonly engine: Pick<Engine, "measure" | "exported">;
  /** Seconds until Flux has reconciled the repository; 0 if it has. */
  untilReconciled(): Promise<number>;
  down(): Promise<void>;
}

export const benchedPrograms: Readonly<Record<BenchedProgram, (size: Size) => Promise<Benched>>> = { sluice, plain };

/** As in Pulumi.dev.yaml. */
const settings = (size: Size): ChainEnvironment => ({ ...size, config: { stableSeconds: 1 } });

async function sluice(size: Size): Promise<Benched> {
  const chain = await Chain.of(settings(size));
  return {
    engine: chain.engine,
    untilReconciled: () => untilReconciled((...args) => chain.kubectl(...args)),
    down: () => chain.down(),
  };
}

async function plain(size: Size): Promise<Benched> {
  const { talosVersion, kubernetesVersion, nodes } = environment(settings(size)) as Readonly<Record<string, string>>;
  await stageCharts();
  const lab = await Lab.up();
  try {
    const engine = await Engine.empty(lab, join(root, "bench", "baseline"));
    const keys = Object.entries(sealingKey()).map(([key, value]) => [key.replace("sluice:", "baseline:"), value]);
    const token = (await lab.said("printenv", ["HCLOUD_TOKEN"])).trim();
    await engine.set({ ...Object.fromEntries(keys), "baseline:token": token }, "--secret");
    const installer = `factory.talos.dev/hcloud-installer/${emptySchematic}:v${talosVersion}`;
    const charts = join(root, labCharts);
    const values = { talosVersion, kubernetesVersion, nodes, installer, operator, charts, git };
    engine.configure(Object.fromEntries(Object.entries(values).map(([key, value]) => [`baseline:${key}`, value])));
    return {
      engine,
      async untilReconciled() {
        const { kubeconfig } = await engine.outputs();
        const file = lab.write("kubeconfig", String(kubeconfig));
        return untilReconciled((...args) => lab.said("kubectl", ["--kubeconfig", file, ...args]));
      },
      down: () => lab.down(),
    };
  } catch (error) {
    await lab.down().catch(() => undefined); // the first error says more
    throw error;
  }
}

async function untilReconciled(kubectl: (...args: readonly string[]) => Promise<string>): Promise<number> {
  const root = ["kustomization/flux-system", "--namespace", "flux-system"];
  const ready = `jsonpath={.status.conditions[?(@.type=="Ready")].status}`;
  const began = performance.now();
  if ((await kubectl("get", ...root, "--output", ready)) === "True") return 0;
  await kubectl("wait", ...root, "--for=condition=Ready", "--timeout=120s");
  return (performance.now() - began) / 1000;
}
