// What an environment's file says about the lab that it runs on.
import { normalize } from "node:path";
import { labName } from "../../stacks/base/labName.ts";
import type { LabNeeds } from "../../stacks/platforms/labNeeds.ts";
import { environments, settingsFile } from "../base/environments.ts";
import { deployedOn } from "./deploymentRecord.ts";
import { defaultLab } from "./labCommand.ts";
import { labCharts } from "./labFolders.ts";
import { allOf } from "./labNeeds.ts";

export interface LabEnvironment {
  /** The lab's name. */
  readonly lab: string;
  /** What the lab must contain for it from the start. */
  readonly platform: LabNeeds;
  readonly talosVersion: string;
  /** Whether it uses the charts that are copied for labs. */
  readonly hasLabCharts: boolean;
  /** Whether it uses sealed-secrets without its own key. */
  readonly lacksSealingKey: boolean;
  /** What the engine reads instead of a file that names no lab, if `--lab` was used. */
  readonly settings?: string;
}

/**
 * Undefined if the environment runs on no lab. Throws if its file has faults: then no lab is started either. The lab is the requested one ("" means a lab of
 * any name), or the one in its file, or the one on which it was deployed with `--lab`.
 */
export async function labEnvironment(name: string, asked?: string): Promise<LabEnvironment | undefined> {
  const file = await settingsFile(name);
  // Only where there is an environment: most commands of a lab need none.
  const { readSettingsFile } = await import("../../stacks/config/settingsFile.ts");
  const { document, own } = readSettingsFile(file);
  const isNamed = own.lab !== undefined;
  const wanted = isNamed ? asked || undefined : (asked ?? (await deployedOn(name))?.lab);
  if (!isNamed && wanted === undefined) return undefined;
  // Reading all of it takes a quarter of a second.
  const { placeOnLab } = await import("./placeOnLab.ts");
  const settings = wanted === undefined ? undefined : placeOnLab(document, wanted || labNamed(name));
  const { readClusterConfigFile } = await import("../../stacks/config/configFile.ts");
  const { config, hidden } = readClusterConfigFile(file, settings);
  if (config.lab === undefined) return undefined;
  const hasKey = config.sealedSecretsKey !== undefined || hidden.some((key) => key.startsWith("sealedSecrets"));
  return {
    lab: config.lab.name,
    platform: config.platform.lab.needs(config),
    talosVersion: config.talosVersion,
    hasLabCharts: normalize(config.charts.path ?? "") === labCharts,
    lacksSealingKey: config.sealedSecrets.enabled && !hasKey,
    ...(settings !== undefined && { settings }),
  };
}

/** What a lab must contain for all environments on it. */
export interface LabSetup {
  readonly platform: LabNeeds;
  readonly talosVersions: readonly string[];
}

/** `first` comes before the others. Environments that cannot be read are left out. */
export async function labSetup(lab: string, first?: LabEnvironment): Promise<LabSetup> {
  const read = (await environments()).map((name) => labEnvironment(name).catch(() => undefined));
  const all = [first, ...(await Promise.all(read))].filter((environment) => environment?.lab === lab);
  const on = all.filter((environment) => environment !== undefined);
  return {
    platform: allOf(on.map(({ platform }) => platform)),
    talosVersions: [...new Set(on.map(({ talosVersion }) => talosVersion))],
  };
}

/** Each environment gets a lab with its own name, unless that is not a valid lab name. */
function labNamed(environment: string): string {
  return labName.test(environment) ? environment : defaultLab;
}
