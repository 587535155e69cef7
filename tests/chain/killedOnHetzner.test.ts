// The engine or a plugin is killed while a resource of each kind is created at Hetzner, on nodes and in the cluster. The next command succeeds.
import { afterAll, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { BenchLab } from "../lab/support/benchLab.ts";
import { Cloud } from "../lab/support/cloud.ts";
import type { KilledProgram } from "../lab/support/kill.ts";
import { held, KilledRuns, type Moment, timeoutOf, unanswered } from "../lab/support/killedRuns.ts";
import { Workbench } from "../support/cli.ts";

jest.setTimeout(timeoutOf(2));

const bench = new Workbench({ fresh: false });
const off = { enabled: false };
const name = bench.addEnvironment("dev", {
  lab: { name: "killed-dev" },
  nodes: [
    { name: "cp-1", role: "controlplane", address: "10.0.1.11" },
    { name: "w-1", role: "worker", address: "10.0.1.21" },
  ],
  ...{ csi: off, flux: off, sealedSecrets: off, stableSeconds: 0, protect: false },
});
const lab = new BenchLab(bench, "killed-dev");
const runs = new KilledRuns(bench, lab, name);
let cloud: Cloud;

/** In the order in which they are created. */
const moments: readonly Moment[] = [
  {
    title: "the network, the firewall, the placement group and the load balancer",
    rules: ["networks", "firewalls", "placement_groups", "load_balancers"].map((kind) =>
      unanswered(`POST /v1/${kind}`),
    ),
  },
  { title: "the subnet", rules: [unanswered("POST /v1/networks/*/actions/add_subnet")] },
  {
    title: "the servers and the load balancer's attachment",
    rules: [unanswered("POST /v1/servers", 2), unanswered("POST /v1/load_balancers/*/actions/attach_to_network")],
  },
  { title: "the load balancer's service", rules: [unanswered("POST /v1/load_balancers/*/actions/add_service")] },
  { title: "the load balancer's target", rules: [unanswered("POST /v1/load_balancers/*/actions/add_target")] },
];

/** What is created by other programs than the cloud's plugin, each with the program that is killed. */
const later: readonly (readonly [KilledProgram, Moment])[] = [
  ["engine", { title: "machine configs", rules: [held("talos", "ApplyConfiguration", 2)] }],
  ["provider", { title: "etcd", rules: [held("talos", "Bootstrap")] }],
  ["talos", { title: "the kubeconfig", rules: [held("talos", "Kubeconfig")] }],
  [
    "kubernetes",
    {
      title: "a Helm release",
      rules: [{ on: "kube", name: "POST /api/v1/namespaces/kube-system/secrets", do: "mute", times: 1 }],
    },
  ],
];

describe("S5.3 whatever is created at Hetzner, on nodes and in the cluster while a program is killed", () => {
  beforeAll(async () => {
    await lab.start();
    cloud = new Cloud(lab.inside);
  });
  afterAll(async () => {
    await lab.down();
    bench.remove();
  });

  test.each(moments)("$title: destroy deletes it after the plugin was killed", async (moment) => {
    await runs.up("hcloud", moment);
    expect(await cloud.left()).not.toEqual([]);
    await runs.succeeds("destroy");
    expect(await cloud.left()).toEqual([]);
  });

  test(
    "up continues after each kill, creates nothing twice, and destroy leaves nothing",
    async () => {
      for (const moment of moments) await runs.up("engine", moment);
      for (const [whom, moment] of later) await runs.up(whom, moment);
      await runs.succeeds("up");
      await runs.succeeds("up", "--expect-no-changes");
      await runs.succeeds("destroy");
      expect(await cloud.left()).toEqual([]);
    },
    timeoutOf(moments.length + later.length + 3),
  );
});
