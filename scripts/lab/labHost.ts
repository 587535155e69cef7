// Whether a lab can run on this host, found out before anything is built for it.
import { readFileSync } from "node:fs";
import { Failure } from "../base/fail.ts";
import { run } from "../base/run.ts";

/** What is asked of the host; tests bring their own. */
export interface Host {
  readonly platform: string;
  readonly isRoot: boolean;
  /** The value of a kernel setting by its path below /proc/sys; "" where the kernel does not have it. */
  readonly setting: (path: string) => string;
  /** The exit code of a program; undefined where there is none of that name. */
  readonly exitCode: (program: string, args: readonly string[]) => Promise<number | undefined>;
}

const thisHost: Host = {
  platform: process.platform,
  isRoot: process.geteuid?.() === 0,
  setting(path) {
    try {
      return readFileSync(`/proc/sys/${path}`, "utf8").trim();
    } catch {
      return "";
    }
  },
  exitCode: async (program, args) => (await run(program, args, { timeout: 10_000 }).catch(() => undefined))?.code,
};

/** Refuses a host on which no lab can run, with all that is missing. */
export async function needLabHost(host: Host = thisHost): Promise<void> {
  const missing = await missingForLab(host);
  if (missing.length > 0) throw new Failure(`no lab can run here:\n${missing.map((line) => `  ${line}`).join("\n")}`);
}

/** What a lab needs and this host does not have, each with what to do. */
export async function missingForLab(host: Host = thisHost): Promise<readonly string[]> {
  if (host.platform !== "linux") {
    return [
      `it needs network namespaces, which only Linux has; this is ${host.platform}. Use a Linux container or virtual machine. Previews need no lab.`,
    ];
  }
  const git =
    (await host.exitCode("git", ["--version"])) === 0
      ? []
      : ["git is not on PATH, and its server needs it: install git"];
  return [...(await refusedNamespaces(host)), ...git];
}

/** The lab's own program explains the same to whoever starts it without Sluice (lab/daemon/namespaces.go). */
async function refusedNamespaces({ isRoot, setting, exitCode }: Host): Promise<readonly string[]> {
  const flags = ["--net", "--pid", "--mount", "--fork", ...(isRoot ? [] : ["--map-root-user"])];
  const code = await exitCode("unshare", [...flags, "true"]);
  if (code === 0) return [];
  if (code === undefined) return ["unshare is not on PATH: install util-linux"];
  const settings = refusals.filter(({ path, value, forRoot }) => (forRoot || !isRoot) && setting(path) === value);
  if (settings.length > 0) {
    const sudo = isRoot ? "" : "sudo ";
    return settings.map(
      ({ path, allowed, means }) => `${means}; allow them: ${sudo}sysctl -w ${path.replaceAll("/", ".")}=${allowed}`,
    );
  }
  return [
    isRoot
      ? "this is root without CAP_SYS_ADMIN, as in an unprivileged container: run the container with --privileged"
      : "user namespaces are refused, as in most containers: run it as root, or the container with --privileged",
  ];
}

/** Kernel settings with which namespaces are refused. */
const refusals = [
  {
    path: "user/max_net_namespaces",
    value: "0",
    allowed: 1024,
    forRoot: true,
    means: "no network namespaces are allowed",
  },
  {
    path: "kernel/unprivileged_userns_clone",
    value: "0",
    allowed: 1,
    forRoot: false,
    means: "user namespaces are for root only",
  },
  {
    path: "kernel/apparmor_restrict_unprivileged_userns",
    value: "1",
    allowed: 0,
    forRoot: false,
    means: "AppArmor keeps user namespaces without rights",
  },
  {
    path: "user/max_user_namespaces",
    value: "0",
    allowed: 1024,
    forRoot: false,
    means: "no user namespaces are allowed",
  },
];
