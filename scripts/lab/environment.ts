// What an environment says of the lab that it runs on.
import { readFile } from "node:fs/promises";
import { normalize } from "node:path";
import { environments, settingsFile } from "../workspace/environments.ts";
import { Failure } from "../workspace/fail.ts";
import { distinct, type LabSnapshot } from "./snapshots.ts";

export interface LabEnvironment {
  /** The lab's name. */
  readonly lab: string;
  /** What its servers start from. */
  readonly snapshot: LabSnapshot;
  /** Whether it takes its charts from where they are put for labs. */
  readonly hasLabCharts: boolean;
  /** Whether it has sealed-secrets and no key of its own for it. */
  readonly lacksSealingKey: boolean;
}

/** The folder, relative to the checkout, that charts are put into for environments on a lab. */
export const labCharts = ".work/charts";

/** Undefined where the environment runs on no lab. Throws where its file is at fault: then no lab is started either. */
export async function labEnvironment(name: string): Promise<LabEnvironment | undefined> {
  const file = await settingsFile(name);
  // To read all of it takes a quarter of a second.
  if (!/^\s*["']?sluice:lab\b/m.test(await readFile(file, "utf8"))) return undefined;
  const { readClusterConfigFile } = await import("../../stacks/configFile.ts");
  const { snapshotFor } = await import("./snapshotFor.ts");
  const { config, hidden } = readConfig(() => readClusterConfigFile(file));
  if (config.lab === undefined) return undefined;
  const hasKey = config.sealedSecretsKey !== undefined || hidden.some((key) => key.startsWith("sealedSecrets"));
  return {
    lab: config.lab.name,
    snapshot: snapshotFor(config),
    hasLabCharts: normalize(config.charts.path ?? "") === labCharts,
    lacksSealingKey: config.sealedSecrets.enabled && !hasKey,
  };
}

/** What servers of all environments on a lab start from. One that cannot be read has no say. */
export async function labSnapshots(lab: string): Promise<LabSnapshot[]> {
  const read = (await environments()).map((name) => labEnvironment(name).catch(() => undefined));
  const on = (await Promise.all(read)).filter((environment) => environment?.lab === lab);
  return distinct(on.flatMap((environment) => environment?.snapshot ?? []));
}

function readConfig<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof Error && error.name !== "ConfigError") throw new Failure(error.message);
    throw error;
  }
}
