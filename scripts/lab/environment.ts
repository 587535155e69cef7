// What an environment says of the lab that it runs on.
import { readFile } from "node:fs/promises";
import { normalize } from "node:path";
import { labName } from "../../stacks/labName.ts";
import { environments, settingsFile } from "../workspace/environments.ts";
import { Failure } from "../workspace/fail.ts";
import { defaultLab } from "./call.ts";
import { deployedOn } from "./deployedRecord.ts";
import { labCharts } from "./folder.ts";
import { allOf, type LabPlatform } from "./platforms.ts";

export interface LabEnvironment {
  /** The lab's name. */
  readonly lab: string;
  /** What it finds there. */
  readonly platform: LabPlatform;
  /** Whether it takes its charts from where they are put for labs. */
  readonly hasLabCharts: boolean;
  /** Whether it has sealed-secrets and no key of its own for it. */
  readonly lacksSealingKey: boolean;
  /** What the engine reads in place of the file, which says nothing of a lab: a person put it there. */
  readonly settings?: string;
}

/**
 * Undefined where the environment runs on no lab. Throws where its file is at fault: then no lab is started either.
 * It is on the lab that is asked for, "" being one of any name, else on the one that its file names, else on the one where it is since it was asked for.
 */
export async function labEnvironment(name: string, asked?: string): Promise<LabEnvironment | undefined> {
  const file = await settingsFile(name);
  const text = await readFile(file, "utf8");
  const isNamed = /^\s*["']?sluice:lab\b/m.test(text);
  const wanted = isNamed ? asked || undefined : (asked ?? (await deployedOn(name))?.lab);
  if (!isNamed && wanted === undefined) return undefined;
  // To read all of it takes a quarter of a second.
  const { placeOnLab } = await import("./placeOnLab.ts");
  const settings = wanted === undefined ? undefined : placeOnLab(text, wanted || labNamed(name));
  const { readClusterConfigFile } = await import("../../stacks/configFile.ts");
  const { platformFor } = await import("./platformFor.ts");
  const { config, hidden } = readConfig(() => readClusterConfigFile(file, settings));
  if (config.lab === undefined) return undefined;
  const hasKey = config.sealedSecretsKey !== undefined || hidden.some((key) => key.startsWith("sealedSecrets"));
  return {
    lab: config.lab.name,
    platform: platformFor(config),
    hasLabCharts: normalize(config.charts.path ?? "") === labCharts,
    lacksSealingKey: config.sealedSecrets.enabled && !hasKey,
    ...(settings !== undefined && { settings }),
  };
}

/** What all environments on a lab find there, one before the others. One that cannot be read has no say. */
export async function labPlatform(lab: string, first: LabPlatform = {}): Promise<LabPlatform> {
  const read = (await environments()).map((name) => labEnvironment(name).catch(() => undefined));
  const on = (await Promise.all(read)).filter((environment) => environment?.lab === lab);
  return allOf([first, ...on.map((environment) => environment?.platform ?? {})]);
}

/** An environment has a lab to itself, unless no lab can be called as it is. */
function labNamed(environment: string): string {
  return labName.test(environment) ? environment : defaultLab;
}

function readConfig<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof Error && error.name !== "ConfigError") throw new Failure(error.message);
    throw error;
  }
}
