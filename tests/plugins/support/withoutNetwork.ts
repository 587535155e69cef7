import { spawnSync } from "node:child_process";

const script = 'ip link set lo up && exec "$@"';

/**
 * What to put before a command so that it runs in a network namespace of its own, where only loopback is up. Throws where
 * the machine cannot do that: a test that needs it would prove nothing.
 */
export function withoutNetwork(): readonly [string, ...string[]] {
  const ways = [["--net"], ["--map-root-user", "--net"]].map(
    (flags) => ["unshare", ...flags, "sh", "-c", script, "sh"] as const,
  );
  const works = ways.find(([program, ...args]) => spawnSync(program, [...args, "true"]).status === 0);
  if (works === undefined) {
    throw new Error("no network namespace can be made: it takes unshare and ip, and root or user namespaces");
  }
  return works;
}
