// Asks Talos' own validator, offline, whether nodes would accept their machine configs. A node would refuse its config too, but only once machines exist and
// others are configured.

import { machineConfigurationArgs } from "../../components/talos/generate/machineConfig.ts";
import { ConfigError, type Fault } from "../../stacks/base/fault.ts";
import { machineConfigInput, machineNodes } from "../../stacks/machineConfigInput.ts";
import type { ClusterConfig } from "../../stacks/schema/clusterConfig.ts";
import { Failure } from "../base/fail.ts";
import { run } from "../base/run.ts";
import { ensureTools } from "../toolchain/ensure.ts";
import { programPath } from "../toolchain/entry.ts";
import { configCheckFor } from "../toolchain/tools.ts";
import type { Generator } from "./generator.ts";

/** The answer of nodes of one Talos minor version about a config: errors in Talos' words, none if they accept it. */
export type Validator = (machineConfig: string) => Promise<readonly string[]>;

/** The validator for the minor version of this version, built if necessary. */
export async function talosValidator(talosVersion: string): Promise<Validator> {
  const tool = configCheckFor(talosVersion);
  await ensureTools([tool]);
  const program = programPath(tool);
  return async (machineConfig) => {
    // Through its standard input: a config may contain the user's own secrets.
    const { stdout, stderr } = await run(program, ["-node"], { input: machineConfig });
    if (stdout === "") throw new Failure(`${program} did not judge a machine config: ${stderr.trim()}`);
    const verdicts: Record<string, { readonly faults?: readonly string[] }> = JSON.parse(stdout);
    return Object.values(verdicts).flatMap(({ faults = [] }) => faults.flatMap(errorsIn));
  };
}

/** Throws a `ConfigError` that lists what nodes would refuse, once for all nodes that would. It quotes nothing from secret patches. */
export async function checkNodeConfigs(
  config: ClusterConfig,
  contract: string,
  generator: Generator,
  validate: Validator,
  file: string,
): Promise<void> {
  const refusalsOf = (checked: ClusterConfig) => nodeRefusals(checked, contract, generator, validate);
  const refusals = await refusalsOf(config);
  const isOpen = config.secretPatches.length === 0;
  // What is refused even without the secret patches does not come from them.
  const plain = isOpen || refusals.size === 0 ? refusals : await refusalsOf({ ...config, secretPatches: [] });
  const faults = [...refusals].map(([words, nodes]): Fault => {
    const shown = plain.has(words) ? words : "its words are not shown, because they may quote a secret patch";
    const [first = 0, ...others] = nodes.map((name) => config.nodes.findIndex((node) => node.name === name));
    const also =
      others.length === 0 ? "" : ` (so are those of ${others.map((index) => config.nodes[index]?.name).join(", ")})`;
    return {
      path: `nodes[${first}]`,
      message: `the machine config is refused by Talos ${config.talosVersion}${also}: ${shown}`,
    };
  });
  const names = config.nodes.map(({ name }) => name);
  if (faults.length > 0) throw new ConfigError(faults, names, file);
}

/** The names of the nodes, by Talos' answer about their configs. */
async function nodeRefusals(config: ClusterConfig, contract: string, generator: Generator, validate: Validator) {
  const cluster = { ...machineConfigInput(config), contract };
  const refusals = new Map<string, string[]>();
  for (const node of machineNodes(config)) {
    const errors = await validate(await generator.generate(machineConfigurationArgs(cluster, node)));
    for (const words of errors) refusals.set(words, [...(refusals.get(words) ?? []), node.name]);
  }
  return refusals;
}

/**
 * Talos joins its errors to one text, also those inside of another: "v1alpha1.Config: 2 errors occurred:\n\t* a\n\t* b: 1 error occurred:\n\t* c\n\n". Each is
 * returned with what it is inside of: "a", "b: c".
 */
function errorsIn(text: string): readonly string[] {
  const found: string[] = [];
  let inside = "";
  for (const line of text.split("\n").map((line) => line.trim().replace(/^\* /, ""))) {
    const [, of] = /^(.*?)\d+ errors? occurred:$/.exec(line) ?? [];
    if (line === "") inside = "";
    else if (of !== undefined) inside = of.replace(/^[\w./]*Config: /, "");
    else found.push(`${inside}${line}`);
  }
  return found;
}
