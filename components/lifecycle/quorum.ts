/** A member of etcd that votes. */
export interface Voter {
  readonly id: string;
  /** As it is called in messages. */
  readonly name: string;
  /** It is known to be well; one that nobody could ask is not. */
  readonly healthy: boolean;
}

/** How many of so many voters have to agree on anything. */
export function quorumOf(voters: number): number {
  return Math.floor(voters / 2) + 1;
}

/** Why etcd would not bear it that a voter is taken out, in words; nothing when it does. Only those that are well are counted. */
export function lossOfQuorum(voters: readonly Voter[], leaving: string): string | undefined {
  const rest = voters.filter(({ id }) => id !== leaving);
  if (rest.length === 0) return "it is the only member that votes: the cluster's data would go with it";
  const sick = voters.filter(({ healthy }) => !healthy).map(({ name }) => name);
  const enough = (all: readonly Voter[]) => all.filter(({ healthy }) => healthy).length >= quorumOf(all.length);
  const without = `not well: ${sick.join(", ")}`;
  // The change is agreed on by those who vote now, and lived with by those who stay.
  if (!enough(voters)) {
    return `${quorumOf(voters.length)} of ${voters.length} members have to agree to it, and there are not as many (${without})`;
  }
  if (enough(rest)) return undefined;
  return `of the ${rest.length} members that stay ${quorumOf(rest.length)} have to be well, and there are not as many (${without})`;
}

/**
 * Why etcd would not bear it that a voter is away for a while, and stays a member; nothing when it does. The only one takes etcd along and brings it
 * back: that loses nothing.
 */
export function lossWhileAway(voters: readonly Voter[], away: string): string | undefined {
  const well = voters.filter(({ id, healthy }) => id !== away && healthy).length;
  const needed = quorumOf(voters.length);
  if (voters.length === 1 || well >= needed) return undefined;
  const sick = voters.filter(({ id, healthy }) => id !== away && !healthy).map(({ name }) => name);
  const without = sick.length === 0 ? "" : ` (not well: ${sick.join(", ")})`;
  return `${needed} of ${voters.length} members have to be well meanwhile, and there would be ${well}${without}`;
}
