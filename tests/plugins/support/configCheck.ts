// The validation of a config by a Talos node of one minor version, from toolchain/configcheck.
import { spawnSync } from "node:child_process";
import { ensureTools } from "../../../scripts/toolchain/ensure.ts";
import { programPath } from "../../../scripts/toolchain/entry.ts";
import { toolNamed } from "../../../scripts/toolchain/tools.ts";

/** The validator for a Talos minor version, built if it is not built yet. */
export async function configCheck(minor: string): Promise<ConfigCheck> {
  const tool = toolNamed(`configcheck-${minor}`);
  await ensureTools([tool]);
  return new ConfigCheck(programPath(tool));
}

export class ConfigCheck {
  private readonly program: string;

  constructor(program: string) {
    this.program = program;
  }

  /** Errors and warnings, in Talos' own words; none if the config is valid. */
  faults(config: string): readonly string[] {
    const { stdout, stderr, error } = spawnSync(this.program, { input: config, encoding: "utf8" });
    if (error !== undefined) throw error;
    if (stdout === "") throw new Error(stderr);
    const verdicts: Record<string, { readonly faults?: readonly string[] }> = JSON.parse(stdout);
    return Object.values(verdicts).flatMap(({ faults = [] }) => faults);
  }
}
