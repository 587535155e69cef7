import { spawnSync } from "node:child_process";

const script = 'ip link set lo up && exec "$@"';

/**
 * What to put before a command so that it runs in a network namespace of its own, where only loopback is up, over which
 * engine and plugins talk. Throws where the machine cannot do that: a test that needs it would prove nothing.
 */
export function withoutNetwork(): readonly [string, ...string[]] {
  const failures: string[] = [];
  for (const flags of [["--net"], ["--map-root-user", "--net"]]) {
    const way = ["unshare", ...flags, "sh", "-c", script, "sh"] as const;
    const tried = spawnSync(way[0], [...way.slice(1), "cat", "/proc/net/dev"], { encoding: "utf8" });
    const interfaces = [...(tried.stdout ?? "").matchAll(/^ *(\S+):/gm)].map(([, name]) => name);
    if (tried.status === 0 && interfaces.join() === "lo") return way;
    failures.push(`unshare ${flags.join(" ")}: ${tried.error?.message ?? tried.stderr.trim()}`);
  }
  throw new Error(
    `no network namespace can be made, as root or by user namespaces; it takes unshare (util-linux) and ip (iproute2).\n${failures.join("\n")}`,
  );
}
