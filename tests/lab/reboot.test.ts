// A node is told to reboot, and the call comes to nothing: the answer is lost, and whether the node heard is for the node to show.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { parse, parseAllDocuments, stringify } from "yaml";
import { standardRetry } from "../../components/talos/retry.ts";
import { root } from "../../scripts/workspace/paths.ts";
import type { Server } from "./support/cloud.ts";
import { Lab } from "./support/lab.ts";
import { Cluster } from "./support/talos.ts";

jest.setTimeout(240_000);

const program = join(root, "tests", "lab", "programs", "configure", "configure.ts");

describe("a worker that is told to reboot into its config", () => {
  let lab: Lab;
  let cluster: Cluster;
  beforeAll(async () => {
    lab = await Lab.up();
    cluster = await Cluster.servers(lab, { talos: "1.13.8", controlPlanes: 1, workers: 1 });
    await cluster.applyAll();
    await lab.until({ subject: cluster.worker.name, what: "stage", value: "running" });
  });
  afterAll(() => lab?.down());

  test("S1.7(6) does so at the first call when nothing is wrong", async () => {
    const done = await configure(cluster.worker, { A: "1" });
    expect(done).toMatchObject({ did: "rebooted", attempts: 1 });
    expect(reboots(lab, cluster.worker)).toBe(1);
  });

  test("S1.7(6) and does not hear it, is told it again within seconds, and reboots once", async () => {
    await lab.fault({ on: "talos", name: "Reboot", subject: cluster.worker.name, do: "drop", times: 1 });
    const done = await configure(cluster.worker, { A: "2" });
    expect(done).toMatchObject({ did: "rebooted", attempts: 2 });
    expect(done.said).toContainEqual(
      expect.stringMatching(
        /^try 1 failed: it was told to reboot \(.+\), and 3 s later is up as before; again in 3\.0 s$/,
      ),
    );
    // 5 s for the call, 3 s for the looks, 3 s for the next try; the rest is the reboot on a busy machine.
    expect(done.seconds).toBeLessThan(25);
    expect(reboots(lab, cluster.worker)).toBe(2);
  });

  /** Brings a node to its config with this environment, which takes a reboot. */
  async function configure(node: Server, env: Readonly<Record<string, string>>) {
    const documents = parseAllDocuments(readFileSync(cluster.configOf(node), "utf8")).map((one) => one.toJS());
    const config = documents
      .map((document) =>
        document.machine === undefined ? document : { ...document, machine: { ...document.machine, env } },
      )
      .map((document) => stringify(document))
      .join("---\n");
    const { contexts, context } = parse(readFileSync(cluster.talosconfig, "utf8"));
    const { ca, crt, key } = contexts[context];
    const input = JSON.stringify({
      node: node.name,
      role: cluster.roleOf(node),
      endpoint: node.address,
      config,
      credentials: { ca, crt, key },
      identity: {},
      retry: standardRetry,
      deadline: 120,
    });
    return JSON.parse(await lab.said(process.execPath, [program], { input }));
  }
});

/** How often a node went down to reboot. */
function reboots({ facts }: Lab, { name }: Server): number {
  return facts.all.filter(({ subject, what, value }) => subject === name && what === "stage" && value === "rebooting")
    .length;
}
