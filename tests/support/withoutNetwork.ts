import { spawnSync } from "node:child_process";

/** Only loopback is up, over which engine and plugins communicate: any other call fails at once. */
const none = 'ip link set lo up && exec "$@"';
/** Packets leave but are never answered, as if all machines were off: a link whose other end is not read. */
const silent = [
  "ip link set lo up",
  "ip link add out type veth peer name nowhere",
  "ip address add 192.0.2.99/32 dev out",
  "ip link set out arp off up",
  "ip link set nowhere up",
  "ip route add default dev out",
  'exec "$@"',
].join(" && ");

/** The prefix of a command that runs it in a separate network namespace, from which nothing is reachable. */
export function withoutNetwork(): Within {
  return namespace(none, "lo");
}

/** The same, but calls get no answer instead of a refusal: they last until the caller's timeout. */
export function inSilence(): Within {
  return namespace(silent, "lo,nowhere,out");
}

export type Within = readonly [string, ...string[]];

/** Throws if the machine does not support that: a test that needs it would prove nothing. */
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
