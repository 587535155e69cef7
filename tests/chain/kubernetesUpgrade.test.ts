// A cluster with a workload gets another minor version of Kubernetes, by a changed line.
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { generateIdentity, identityToRecipient } from "age-encryption";
import { mostServersDown } from "../lab/support/apiServers.ts";
import { type Availability, measuredUp } from "../lab/support/availability.ts";
import { Chain } from "../lab/support/chain.ts";
import { environment } from "../lab/support/chainEnvironment.ts";
import { deployWorkload } from "../lab/support/workload.ts";

jest.setTimeout(900_000);

const off = { enabled: false };
/** Seconds for which a client may get no answer: the load balancer drops a target after two failed health checks, one every 5 s. */
const failoverSeconds = 12;

describe("three control planes and two workers (S8.3)", () => {
  let chain: Chain;
  let began = 0;
  let printed = "";
  let measured: Availability;
  let backups = "";
  /** Of the backups that were complete when the first node was changed. */
  let saved: readonly object[] = [];
  beforeAll(async () => {
    const { hetzner } = environment({ controlPlanes: 3 });
    const loadBalancer = { address: "10.0.1.5", public: true };
    const own = { hetzner: { ...(hetzner as object), loadBalancer } };
    const config = { kubernetesVersion: "1.35.4", csi: off, flux: off, sealedSecrets: off, ...own };
    chain = await Chain.of({ controlPlanes: 3, workers: 2, config });
    await chain.up();
    await deployWorkload(chain, { storage: false });
    backups = join(chain.lab.files, "backups");
    mkdirSync(join(backups, "test"), { recursive: true });
  });
  afterAll(() => chain?.down());

  const since = () => chain.lab.facts.all.filter(({ seq }) => seq > began);
  const versions = async () =>
    (await chain.kubectl("get", "nodes", "--output", "jsonpath={.items[*].status.nodeInfo.kubeletVersion}")).split(" ");

  test("S8.3 a preview of a changed kubernetesVersion names which components restart, and in which order [C7]", async () => {
    const ageRecipients = [await identityToRecipient(await generateIdentity())];
    chain.configure({ kubernetesVersion: "1.36.4", ageRecipients, backup: { folder: backups } });
    const { stdout, code } = await chain.run("preview");
    expect(code).toBe(0);
    expect(stdout).toMatch(/Kubernetes 1\.35\.4 -> 1\.36\.4, without a reboot, in this order/);
    expect(stdout).toMatch(/2\. cp-1, cp-2, cp-3, one at a time: kube-apiserver restarts/);
    expect(stdout).toMatch(/3\. kubelets restart: cp-1, cp-2, cp-3, then w-1, then w-2/);
    expect(stdout).toMatch(/a backup is taken/);
    // What the upgrade changes, the machine configs do not change again.
    expect(stdout).not.toMatch(/change of the machine config/);
  });

  test("S8.3 the next up upgrades API servers one at a time, then kubelets, while API and workload stay available [C8]", async () => {
    began = chain.lab.facts.all.at(-1)?.seq ?? 0;
    const after = chain.lab.facts.all.at(-1);
    const running = measuredUp(chain);
    await chain.lab.until({ what: "config", value: "applied", after }, 120_000);
    saved = readdirSync(join(backups, "test")).map((name) => {
      const { reason, cluster } = JSON.parse(readFileSync(join(backups, "test", name, "manifest.json"), "utf8"));
      return { reason, version: cluster.kubernetesVersion };
    });
    const run = await running;
    measured = run.measured;
    printed = run.stdout;

    expect(await versions()).toEqual(Array(5).fill("v1.36.4"));
    for (const node of ["cp-1", "cp-2", "cp-3"]) {
      const { servers } = await chain.cloud.call("GET", `/servers?name=${chain.server(node)}`);
      const version = await chain.kubectl("--server", `https://${servers[0].public_net.ipv4.ip}:6443`, "version");
      expect(version).toMatch(/Server Version: v1\.36\.4/);
    }
    expect(since().filter(({ what }) => what === "skew")).toEqual([]);
    expect(mostServersDown(chain.lab.facts.all, chain.nodes.slice(0, 3), began)).toBe(1);
    expect(printed).toMatch(/Kubernetes 1\.35\.4 -> 1\.36\.4 on 5 nodes/);
  });

  test("S8.3 its clients saw the API at all times but for the load balancer's failover, and always a pod of the workload", () => {
    console.info("1.35.4 -> 1.36.4", JSON.stringify(measured));
    expect(measured.ticks).toBeGreaterThan(50);
    expect(measured.longestApiGap).toBeLessThan(failoverSeconds);
    expect(measured.fewestPods).toBeGreaterThanOrEqual(1);
  });

  test("S8.3 a verified backup was taken before the first node was changed", () => {
    expect(saved).toEqual([{ reason: "before Kubernetes 1.35.4 is upgraded to 1.36.4", version: "1.35.4" }]);
  });

  test("S8.3 no other config was sent, and nothing is left to do", async () => {
    const applied = since().filter(({ what, value }) => what === "config" && value === "applied");
    // API server, the two others, and the kubelet of a control plane; the kubelet of a worker.
    const times = Map.groupBy(applied, ({ subject }) => subject);
    const counted = Object.fromEntries([...times].map(([node, all]) => [node.replace("test-", ""), all.length]));
    expect(counted).toEqual({ "cp-1": 3, "cp-2": 3, "cp-3": 3, "w-1": 1, "w-2": 1 });
    expect((await chain.up()).steps).toEqual([]);
  });
});
