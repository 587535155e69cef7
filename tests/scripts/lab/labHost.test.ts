import { describe, expect, test } from "@jest/globals";
import { type Host, missingForLab, needLabHost } from "../../../scripts/lab/labHost.ts";

const good: Host = { platform: "linux", isRoot: true, setting: () => "", exitCode: async () => 0 };
const user: Host = { ...good, isRoot: false };

/** A host on which these programs fail, or do not exist. */
function host(
  from: Host,
  codes: Readonly<Record<string, number | undefined>>,
  settings: Readonly<Record<string, string>> = {},
): Host {
  return {
    ...from,
    setting: (path) => settings[path] ?? "",
    exitCode: async (program) => (program in codes ? codes[program] : 0),
  };
}

describe("a host for labs (S6.3)", () => {
  test("is one where namespaces can be made and git is on PATH", async () => {
    expect(await missingForLab(good)).toEqual([]);
    const calls: string[] = [];
    const exitCode = async (program: string, args: readonly string[]) => calls.push([program, ...args].join(" ")) && 0;
    expect(await missingForLab({ ...user, exitCode })).toEqual([]);
    expect(calls).toEqual(["git --version", "unshare --net --pid --mount --fork --map-root-user true"]);
  });

  test.each<[string, Host, string]>([
    [
      "another system",
      { ...good, platform: "darwin" },
      "it needs network namespaces, which only Linux has; this is darwin. Use a Linux container or virtual machine. Previews need no lab.",
    ],
    ["no git", host(good, { git: undefined }), "git is not on PATH, and its server needs it: install git"],
    ["no unshare", host(good, { unshare: undefined }), "unshare is not on PATH: install util-linux"],
    [
      "a container, as root",
      host(good, { unshare: 1 }),
      "this is root without CAP_SYS_ADMIN, as in an unprivileged container: run the container with --privileged",
    ],
    [
      "a container",
      host(user, { unshare: 1 }, { "user/max_user_namespaces": "100" }),
      "user namespaces are refused, as in most containers: run it as root, or the container with --privileged",
    ],
    [
      "AppArmor",
      host(user, { unshare: 1 }, { "kernel/apparmor_restrict_unprivileged_userns": "1" }),
      "AppArmor keeps user namespaces without rights; allow them: sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
    ],
    [
      "no network namespaces",
      host(good, { unshare: 1 }, { "user/max_net_namespaces": "0", "user/max_user_namespaces": "0" }),
      "no network namespaces are allowed; allow them: sysctl -w user.max_net_namespaces=1024",
    ],
  ])("is not one with %s, and what to do is named", async (_, given, expected) => {
    expect(await missingForLab(given)).toEqual([expected]);
  });

  test("is refused with everything that is missing", async () => {
    const given = host(user, { git: undefined, unshare: 1 });
    await expect(needLabHost(given)).rejects.toThrow(
      /^no lab can run here:\n {2}user namespaces .*\n {2}git is not on PATH/,
    );
  });
});
