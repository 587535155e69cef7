/** One thing that is wrong with the configuration. */
export interface Fault {
  /** Where, as it is spelled in YAML: `nodes[2].address`. */
  readonly path: string;
  /** What was got, what is expected and, where it helps, what to do. */
  readonly message: string;
}

/** The configuration cannot be used. The message lists every fault, one a line; no secret value is in it. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly faults: readonly Fault[];
  /** Tells Pulumi that this is the person's to mend: it prints the message without a stack. (pulumi.RunError carries the same mark.) */
  readonly __pulumiRunError = true;

  /** `nodeNames` are the names in the order of `nodes`, as far as they are known: a name says more than an index. */
  constructor(faults: readonly Fault[], nodeNames: readonly (string | undefined)[] = []) {
    const lines = faults.map(({ path, message }) => `  ${path}${nodeLabel(path, nodeNames)}: ${message}`);
    super(
      [`The configuration has ${faults.length === 1 ? "1 fault" : `${faults.length} faults`}:`, ...lines].join("\n"),
    );
    this.faults = faults;
  }
}

function nodeLabel(path: string, nodeNames: readonly (string | undefined)[]): string {
  const index = /^nodes\[(\d+)\]/.exec(path)?.[1];
  const name = index === undefined ? undefined : nodeNames[Number(index)];
  return name === undefined ? "" : ` (${name})`;
}
