// What a pull request's check does: a preview with no account, no cluster, no network, and nothing in the person's home.
import { spawnSync } from "node:child_process";
import { afterAll, describe, expect, jest, test } from "@jest/globals";
import { listed, Workbench } from "../support/cli.ts";

jest.setTimeout(180_000);

const bench = new Workbench({ fresh: true });
afterAll(() => bench.remove());

/** Every resource that the program knows, by environment. A stage that comes to the program comes to these lists. */
const resources = {
  home: [
    "pulumi:pulumi:Stack sluice-home",
    "sluice:talos:MachineSecrets home",
    ...["cp-1", "cp-2", "cp-3", "w-1", "w-2"].map((node) => `sluice:talos:NodeMachineConfig home-${node}`),
    "talos:machine/secrets:Secrets home",
  ],
  cloud: [
    "pulumi:pulumi:Stack sluice-cloud",
    "sluice:talos:MachineSecrets cloud",
    ...["cp-1", "cp-2", "cp-3", "w-1", "w-2", "w-3"].map((node) => `sluice:talos:NodeMachineConfig cloud-${node}`),
    "talos:machine/secrets:Secrets cloud",
  ],
};

describe("a preview without account, cluster and network", () => {
  test("U2 shows every resource that the program knows: home", async () => {
    const preview = await bench.npmWith({ within: withoutNetwork() }, "preview", "home");
    expect(preview).toMatchObject({ code: 0, stderr: "" });
    const [interfaces, text] = preview.stdout.split("--\n");
    expect(interfaces?.trim().split("\n")).toEqual(["lo"]);
    const created = [...(text ?? "").matchAll(/^ \+ {2}(\S+) (\S+) create $/gm)].map(
      ([, type, name]) => `${type} ${name}`,
    );
    // The engine writes a type without the file that it is defined in.
    expect([...new Set(created)].sort()).toEqual(resources.home.map((line) => line.replace(/\/\w+:/, ":")));
    expect(text).toContain(`Resources:\n    + ${resources.home.length} to create\n`);
  });

  test("U2 shows every resource that the program knows, to a program: cloud", async () => {
    const preview = await bench.npmWith({ within: withoutNetwork() }, "preview", "cloud", "--json");
    expect(preview).toMatchObject({ code: 0 });
    const { steps } = JSON.parse(preview.stdout.split("--\n")[1] ?? "");
    expect(steps.map(({ op }: { op: string }) => op)).toEqual(steps.map(() => "create"));
    expect(listed(steps.map(({ urn }: { urn: string }) => urn))).toEqual(resources.cloud);
  });
});

/**
 * Puts a command into a network namespace of its own where only loopback is up, over which engine and plugins talk, and
 * has it list the interfaces first. Throws where the machine cannot do that: without it the test would prove nothing.
 */
function withoutNetwork(): readonly string[] {
  const script = 'set -e; ip link set lo up; sed -n "s/^ *\\(.*\\):.*/\\1/p" /proc/net/dev; echo --; exec "$@"';
  const ways = [
    ["unshare", "--net"],
    ["unshare", "--map-root-user", "--net"],
  ].map((way) => [...way, "sh", "-c", script, "sh"]);
  const failures: string[] = [];
  for (const way of ways) {
    const tried = spawnSync(way[0] ?? "", [...way.slice(1), "true"], { encoding: "utf8" });
    if (tried.status === 0) return way;
    failures.push(`${way.slice(0, -4).join(" ")}: ${tried.error?.message ?? tried.stderr.trim()}`);
  }
  throw new Error(
    `no network namespace can be made, as root or by user namespaces; it takes unshare (util-linux) and ip (iproute2).\n${failures.join("\n")}`,
  );
}
