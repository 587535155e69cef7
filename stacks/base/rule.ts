import type { Fault } from "./fault.ts";

/** A check of how several values fit together; one concern per rule. */
export interface Rule<Config> {
  /** The keys that the check reads: it runs if these could be read, whatever is wrong elsewhere. */
  readonly reads: readonly string[];
  check(config: Config): readonly Fault[];
}

/** Creates rules for such a configuration. The type lets each check read only the keys that it declares. */
export function rulesOn<Config>() {
  return <Key extends keyof Config & string>(
    reads: readonly Key[],
    check: (config: Pick<Config, Key>) => Iterable<Fault>,
  ): Rule<Config> => ({ reads, check: (config) => [...check(config)] });
}
