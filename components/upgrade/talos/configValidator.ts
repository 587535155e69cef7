// Talos' own validator of machine configs, for the version that is about to run. The npm commands build it; without them there is none.
import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { withoutSecrets } from "../../talos/client/classify.ts";

/** Names the program, in the environment of the engine. */
export const validatorVariable = "SLUICE_CONFIGCHECK";

/** The errors with which a node would refuse this config, in Talos' words; none if it accepts it. Undefined if there is no validator. */
export type ConfigValidator = (config: string) => Promise<readonly string[] | undefined>;

export const configValidator: ConfigValidator = async (config) => {
  const program = process.env[validatorVariable];
  if (!program) return undefined;
  // A node has Talos on its disk by then. The config goes through standard input, because it has secrets.
  const child = spawn(program, ["-node", "-installed"], { stdio: ["pipe", "pipe", "ignore"] });
  const failed = new Promise<never>((_, fail) => child.once("error", fail));
  child.stdin.on("error", () => undefined);
  child.stdin.end(config);
  const verdicts: Record<string, { readonly faults?: readonly string[] }> = JSON.parse(
    await Promise.race([text(child.stdout), failed]),
  );
  return Object.values(verdicts).flatMap(({ faults = [] }) => faults.map((fault) => withoutSecrets(fault).trim()));
};
