/** A voting member of etcd. */
export interface Voter {
  readonly id: string;
  /** Its name in messages. */
  readonly name: string;
  /** Whether it is known to be healthy; one that could not be asked is not. */
  readonly healthy: boolean;
}

/** How many of this number of voters must agree on a change. */
export function quorumOf(voters: number): number {
  return Math.floor(voters / 2) + 1;
}

/** Why etcd would lose its quorum if a voter is removed, as text; undefined if it keeps it. Only healthy members count. */
export function lossOfQuorum(voters: readonly Voter[], leaving: string): string | undefined {
  const rest = voters.filter(({ id }) => id !== leaving);
  if (rest.length === 0) return "it is the only voter: the cluster's data would be lost with it";
  const sick = voters.filter(({ healthy }) => !healthy).map(({ name }) => name);
  const enough = (all: readonly Voter[]) => all.filter(({ healthy }) => healthy).length >= quorumOf(all.length);
  const without = `unhealthy: ${sick.join(", ")}`;
  // The current voters must agree to the change, and the remaining ones must have a quorum after it.
  if (!enough(voters)) {
    return `${quorumOf(voters.length)} of ${voters.length} members must agree to it, and fewer are healthy (${without})`;
  }
  if (enough(rest)) return undefined;
  return `${quorumOf(rest.length)} of the ${rest.length} remaining members must be healthy, and fewer are (${without})`;
}

/**
 * Why etcd would lose its quorum while a voter is down but stays a member; undefined if it keeps it. The only voter takes etcd down and brings it back, which
 * loses nothing.
 */
export function lossWhileAway(voters: readonly Voter[], away: string): string | undefined {
  const well = voters.filter(({ id, healthy }) => id !== away && healthy).length;
  const needed = quorumOf(voters.length);
  if (voters.length === 1 || well >= needed) return undefined;
  const sick = voters.filter(({ id, healthy }) => id !== away && !healthy).map(({ name }) => name);
  const without = sick.length === 0 ? "" : ` (unhealthy: ${sick.join(", ")})`;
  return `${needed} of ${voters.length} members must be healthy meanwhile, and only ${well} would be${without}`;
}
