// The environment of a stack from its file, for decisions before the engine runs.
import type { ClusterConfig } from "../../stacks/schema/clusterConfig.ts";
import { settingsFile } from "../base/environments.ts";
import type { Stack } from "./stack.ts";

/** Undefined if the file has faults: the run itself reports them. Loaded only when needed, because that takes a quarter of a second. */
export async function stackConfig({ name, lab }: Pick<Stack, "name" | "lab">): Promise<ClusterConfig | undefined> {
  const { readClusterConfigFile } = await import("../../stacks/config/configFile.ts");
  const file = await settingsFile(name);
  try {
    return readClusterConfigFile(file, lab?.settings).config;
  } catch {
    return undefined;
  }
}
