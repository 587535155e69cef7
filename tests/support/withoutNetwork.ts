import { spawnSync } from "node:child_process";

/** Only loopback is up, over which engine and plugins talk: whoever calls further is told at once that there is no way. */
const none = 'ip link set lo up && exec "$@"';
/** There is a way out, and what goes it is never heard of again, as from a machine that is off: a link whose other end nobody reads. */
const silent = [
  "ip link set lo up",
  "ip link add out type veth peer name nowhere",
  "ip address add 192.0.2.99/32 dev out",
  "ip link set out arp off up",
  "ip link set nowhere up",
  "ip route add default dev out",
  'exec "$@"',
].join(" && ");

/** What to put before a command so that it runs in a network namespace of its own, from where nothing is reached. */
export function withoutNetwork(): Within {
  return namespace(none, "lo");
}

/** The same where calls get no answer instead of a refusal: they last as long as the caller's patience. */
export function inSilence(): Within {
  return namespace(silent, "lo,nowhere,out");
}

export type Within = readonly [string, ...string[]];

/** Throws where the machine cannot do that: a test that needs it would prove nothing. */
function namespace(script: string, links: string): Within {
  const failures: string[] = [];
  for (const flags of [["--net"], ["--map-root-user", "--net"]]) {
    const way = ["unshare", ...flags, "sh", "-c", script, "sh"] as const;
    const tried = spawnSync(way[0], [...way.slice(1), "cat", "/proc/net/dev"], { encoding: "utf8" });
    const interfaces = [...(tried.stdout ?? "").matchAll(/^ *(\S+):/gm)].map(([, name]) => name);
    if (tried.status === 0 && interfaces.sort().join() === links) return way;
    failures.push(`unshare ${flags.join(" ")}: ${tried.error?.message ?? tried.stderr.trim()}`);
  }
  throw new Error(
    `no network namespace can be made, as root or by user namespaces; it takes unshare (util-linux) and ip (iproute2).\n${failures.join("\n")}`,
  );
}
