import { count } from "../../components/model/count.ts";

/** One fault in the configuration. */
export interface Fault {
  /** The place, as written in YAML: `nodes[2].address`. */
  readonly path: string;
  /** What was found, what is expected and, if it helps, what to do. */
  readonly message: string;
}

/** The configuration cannot be used. The message lists every fault, one per line, without secret values. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly faults: readonly Fault[];
  /** Marks a user error, which Pulumi prints without a stack trace, like a pulumi.RunError. */
  readonly __pulumiRunError = true;

  /**
   * `nodeNames` are the names in the order of `nodes`, as far as they are known: they are shown beside an index. `file` is the name of the environment's
   * file, where that is known.
   */
  constructor(
    faults: readonly Fault[],
    nodeNames: readonly (string | undefined)[] = [],
    file: string | undefined = undefined,
  ) {
    const lines = faults.map((fault) => `  ${faultLine(fault, nodeNames)}`);
    super([`${file ?? "The configuration"} has ${count(faults.length, "fault")}:`, ...lines].join("\n"));
    this.faults = faults;
  }
}

/** A fault, or a warning, with its place. */
export function faultLine({ path, message }: Fault, nodeNames: readonly (string | undefined)[] = []): string {
  return `${path}${nodeLabel(path, nodeNames)}: ${message}`;
}

function nodeLabel(path: string, nodeNames: readonly (string | undefined)[]): string {
  const index = /^nodes\[(\d+)\]/.exec(path)?.[1];
  const name = index === undefined ? undefined : nodeNames[Number(index)];
  return name === undefined ? "" : ` (${name})`;
}
