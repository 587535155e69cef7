// What only the node shows: whether it received a reboot call whose answer is lost, that its services flap, that its clock is wrong.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { parse, parseAllDocuments, stringify } from "yaml";
import type { NodeTarget } from "../../components/talos/nodes/configureNode.ts";
import { standardRetry } from "../../components/waiting/retry.ts";
import { root } from "../../scripts/base/paths.ts";
import type { Server } from "./support/cloud.ts";
import { Lab } from "./support/lab.ts";
import { Cluster } from "./support/talos.ts";

jest.setTimeout(240_000);

const program = join(root, "tests", "lab", "programs", "configure", "configure.ts");

describe("of a control plane and a worker", () => {
  let lab: Lab;
  let cluster: Cluster;
  beforeAll(async () => {
    lab = await Lab.up();
    cluster = await Cluster.servers(lab, { talos: "1.13.8", controlPlanes: 1, workers: 1 });
    await cluster.applyAll();
    await lab.until({ subject: cluster.worker.name, what: "stage", value: "running" });
  });
  afterAll(() => lab?.down());

  test("S1.7(6) one that must reboot into its config reboots at the first call if nothing fails", async () => {
    const done = await configure(cluster.worker, { A: "1" });
    expect(done).toMatchObject({ did: "rebooted", attempts: 1 });
    expect(reboots(lab, cluster.worker)).toBe(1);
  });

  test("S1.7(6) one that did not receive the reboot call is called again within seconds, and reboots once [C25]", async () => {
    await lab.fault({ on: "talos", name: "Reboot", subject: cluster.worker.name, do: "drop", times: 1 });
    const done = await configure(cluster.worker, { A: "2" });
    expect(done).toMatchObject({ did: "rebooted", attempts: 2 });
    expect(done.said).toContainEqual(
      expect.stringMatching(
        /^attempt 1 failed: it was sent the reboot call \(.+\), but is still up unchanged 3 s later; retrying in 3\.0 s$/,
      ),
    );
    // 5 s for the call, 3 s for the checks, 3 s until the next attempt; the rest is the reboot on a busy machine.
    expect(done.seconds).toBeLessThan(25);
    expect(reboots(lab, cluster.worker)).toBe(2);
  });

  test("S5.4 one whose service fails as many health checks as a fault says stays in its stage", async () => {
    const { name: subject } = cluster.worker;
    await lab.fault({ on: "health", name: "cri", subject, do: "fail", message: "no answer", times: 2 });
    const service = { subject, what: "service", detail: { id: "cri" } };
    const after = await lab.until({ ...service, value: "unhealthy" });
    await lab.until({ ...service, value: "healthy", after });
    const said = await cluster.said(cluster.worker, "service", "cri");
    expect(said).toMatch(/Running\]: Health check successful .*\n.*Running\]: Health check failed: no answer /);
    expect(stages(lab, cluster.worker).at(-1)).toBe("running");
  });

  test("S5.4 one that booted with a wrong clock shows a certificate that is not valid yet", async () => {
    const { first, cloud } = cluster;
    const reset = async () => {
      const after = lab.facts.all.at(-1);
      await cloud.call("POST", `/servers/${first.id}/actions/reset`);
      await lab.until({ subject: first.name, what: "api", value: "apid", after });
    };
    await lab.fault({ on: "clock", name: "boot", subject: first.name, do: "skew", by: "48h", times: 1 });
    const held = await lab.fault({ on: "clock", name: "sync", subject: first.name, do: "hold" });
    await reset();
    const refused = await cluster.talosctl(first, ["version"]);
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringMatching(/has expired or is not yet valid/) });
    await lab.endFault(held);
    await reset();
    expect(await cluster.talosctl(first, ["version"])).toMatchObject({ code: 0 });
  });

  /** Configures a node with this environment variable, which needs a reboot. */
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
    const target: NodeTarget = {
      node: node.name,
      role: cluster.roleOf(node),
      talosAddress: node.address,
      address: node.address,
      peers: [],
      machineConfiguration: config,
      credentials: { ca, crt, key },
      identity: {},
      retry: standardRetry,
      deadlineSeconds: 120,
    };
    return JSON.parse(await lab.said(process.execPath, [program], { input: JSON.stringify(target) }));
  }
});

/** How often a node went down to reboot. */
function reboots(lab: Lab, node: Server): number {
  return stages(lab, node).filter((stage) => stage === "rebooting").length;
}

function stages({ facts }: Lab, { name }: Server): string[] {
  return facts.all.filter(({ subject, what }) => subject === name && what === "stage").map(({ value }) => value);
}
