// Talos is upgraded by a changed line, while an application with a budget and a volume runs.
import { afterAll, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { measuredUp } from "../lab/support/availability.ts";
import { Chain } from "../lab/support/chain.ts";
import { deployWorkload, workloadState } from "../lab/support/workload.ts";

jest.setTimeout(900_000);

const off = { enabled: false };
/** The load balancer drops a target after two failed health checks, one every 5 s. */
const failoverSeconds = 12;
const names = ["cp-1", "cp-2", "cp-3", "w-1", "w-2"];
/** A worker is first, then the control planes, then the other workers. */
const order = ["w-1", "cp-1", "cp-2", "cp-3", "w-2"];

describe("S8.3 three control planes and two workers with an application", () => {
  let chain: Chain;
  /** Where in the facts the upgrade started. */
  let began = 0;
  beforeAll(async () => {
    chain = await Chain.of({
      ...{ controlPlanes: 3, workers: 2, talos: "1.12.6" },
      config: { flux: off, sealedSecrets: off, hetzner: hetznerOf },
    });
    await chain.up();
    await deployWorkload(chain);
  });
  afterAll(() => chain?.down());

  const since = (what: string) => chain.lab.facts.all.slice(began).filter((fact) => fact.what === what);
  const node = (subject: string) => subject.replace("test-", "");
  /** The nodes in the order in which another system was installed on them. */
  const installed = () => since("installed").map(({ subject, value }) => `${node(subject)} ${value}`);
  /** How often each node has left the stage running. */
  const reboots = () =>
    Object.fromEntries(
      names.map((name) => [
        name,
        since("stage").filter((fact) => fact.subject === `test-${name}` && fact.value === "running").length,
      ]),
    );
  /** Control planes that were away at the same time. */
  const mostAway = () => {
    const away = new Set<string>();
    let most = 0;
    for (const { subject, value } of since("stage")) {
      if (!subject.startsWith("test-cp")) continue;
      if (value === "running") away.delete(subject);
      else away.add(subject);
      most = Math.max(most, away.size);
    }
    return most;
  };
  const runs = async () => {
    const { items } = JSON.parse(await chain.kubectl("get", "nodes", "--output", "json"));
    return items.map(
      (item: { metadata: { name: string }; status: { nodeInfo: { osImage: string } } }) =>
        `${item.metadata.name} ${item.status.nodeInfo.osImage}`,
    );
  };

  test("refuses two minor versions at once, in the preview", async () => {
    chain.configure({ talosVersion: "1.14.1" });
    const { stdout, code } = await chain.run("preview");
    expect(code).not.toBe(0);
    expect(stdout).toContain("SLU-T401 Talos cannot change to this version in one step");
  });

  test("shows in the preview what happens to which node, in which order, without a cluster", async () => {
    chain.configure({ talosVersion: "1.13.8" });
    const { stdout, code } = await chain.run("preview");
    expect(code).toBe(0);
    const lines = order.map(
      (name, place) => `${place + 1}\\. ${name} Talos 1\\.12\\.6 -> 1\\.13\\.8: drained, reboots once`,
    );
    expect(stdout).toMatch(
      new RegExp(["Talos is upgraded in this order; how long a node takes is not known yet", ...lines].join("\\s+")),
    );
    expect(stdout).toContain("no backup is taken before that");
  });

  test("changes nothing if one node cannot pull the installer, and names it", async () => {
    began = chain.lab.facts.all.length;
    const missing = await chain.lab.fault({ on: "image", name: "*installer*", subject: "test-cp-3", do: "fail" });
    const { stdout, code } = await chain.run("up");
    expect(code).not.toBe(0);
    expect(stdout).toContain("SLU-T403 A node cannot pull the installer image");
    expect(stdout).toMatch(/cp-3: \S+:v1\.13\.8: error pulling image: .*not found/);
    await chain.lab.endFault(missing);
    expect([installed(), since("stage")]).toEqual([[], []]);
  });

  test("runs the next minor version on every node after one reboot each, one control plane at a time [C7]", async () => {
    began = chain.lab.facts.all.length;
    const { measured, stdout: said } = await measuredUp(chain);
    expect(installed()).toEqual(order.map((name) => `${name} 1.13.8`));
    expect(reboots()).toEqual(Object.fromEntries(names.map((name) => [name, 1])));
    expect(mostAway()).toBe(1);
    expect((await runs()).toSorted()).toEqual(names.map((name) => `${name} Talos (v1.13.8)`));
    for (const name of names)
      expect(said).toMatch(new RegExp(`${name} runs Talos 1\\.13\\.8 .*drained in \\d+ s, away for \\d+ s`));
    expect(await workloadState(chain)).toEqual({ cordoned: [], ready: "ledger 1 shop 2" });
    console.info("1.12.6 -> 1.13.8", JSON.stringify(measured));
    expect(measured.fewestPods).toBeGreaterThanOrEqual(1);
    expect(measured.longestApiGap).toBeLessThan(failoverSeconds);
    expect((await chain.up()).steps).toEqual([]);
  });

  test("shows in the next preview how long another schematic takes, by what the nodes took [C19]", async () => {
    chain.configure({ image: { extensions: ["siderolabs/qemu-guest-agent"] } });
    const { stdout } = await chain.run("preview");
    expect(stdout).toMatch(/Talos is upgraded in this order; about \d+ (s|min) in all/);
    expect(stdout).toMatch(
      /1\. w-1 Talos 1\.13\.8, schematic \w{8} -> \w{8}: drained, reboots once, about \d+ (s|min)/,
    );
  });
});

/** Any snapshot of Talos will do for servers: those that exist are not created again. */
const hetznerOf = {
  networkCidr: "10.0.0.0/16",
  serverTypes: { controlplane: "cx23", worker: "cx23" },
  allowedCidrs: ["192.0.2.100/32"],
  loadBalancer: { address: "10.0.1.5" },
  snapshot: { labels: { os: "talos" } },
};
