// The engine or its plugin is killed while a resource of each kind is created on Proxmox. The next command succeeds.
import { afterAll, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { BenchLab } from "../lab/support/benchLab.ts";
import { held, KilledRuns, type Moment, timeoutOf, unanswered } from "../lab/support/killedRuns.ts";
import { Proxmox } from "../lab/support/proxmox.ts";
import { settings, Workbench } from "../support/cli.ts";

jest.setTimeout(timeoutOf(2));

const bench = new Workbench({ fresh: false });
const { "sluice:proxmox": section } = settings("home").config as { "sluice:proxmox": object };
const name = bench.addEnvironment("home", {
  lab: { name: "killed-home" },
  nodes: [{ name: "cp-1", role: "controlplane", address: "10.0.0.11", vmId: 300 }],
  network: { nodeCidr: "10.0.0.0/16", gateway: "10.0.0.1", addressing: "meta", nameservers: ["10.0.0.1"] },
  proxmox: { ...section, pool: "talos" },
  charts: { path: ".work/charts" },
  ...{ sealedSecrets: { enabled: false }, stableSeconds: 0, protect: false },
});
const lab = new BenchLab(bench, "killed-home");
const runs = new KilledRuns(bench, lab, name);
let proxmox: Proxmox;

const call = (method: string, path: string, times?: number) => unanswered(`${method} /api2/json${path}`, times);

/** In the order in which they are created. */
const moments: readonly Moment[] = [
  {
    title: "the schematic, the pool, the roles and the user",
    rules: [
      unanswered("POST /schematics"),
      call("POST", "/pools"),
      call("POST", "/access/roles", 2),
      call("POST", "/access/users"),
    ],
  },
  { title: "the image", rules: [held("cloud", "task download")] },
  { title: "the VM", rules: [call("POST", "/nodes/*/qemu")] },
  { title: "the VM's start", rules: [held("cloud", "task qmstart")] },
  { title: "the privileges", rules: [call("PUT", "/access/acl")] },
  { title: "the token", rules: [call("POST", "/access/users/*/token/csi")] },
];

/** What there is of the environment. */
async function left(): Promise<readonly string[]> {
  const [resources, roles, users] = await Promise.all([
    proxmox.left(),
    proxmox.call("GET", "/access/roles"),
    proxmox.call("GET", "/access/users"),
  ]);
  const names = [...roles, ...users].map(({ roleid, userid }) => roleid ?? userid);
  return [...resources, ...names.filter((one) => one.startsWith("home-"))];
}

describe("S5.3 whatever is created on Proxmox while a program is killed", () => {
  beforeAll(async () => {
    await lab.start();
    proxmox = new Proxmox(lab.inside);
  });
  afterAll(async () => {
    await lab.down();
    bench.remove();
  });

  test.each(moments)("$title: destroy deletes it after the plugin was killed", async (moment) => {
    await runs.up("proxmoxve", moment);
    expect(await left()).not.toEqual([]);
    await runs.succeeds("destroy");
    expect(await left()).toEqual([]);
  });

  test(
    "up continues after each kill of the engine, creates nothing twice, and destroy leaves nothing",
    async () => {
      for (const moment of moments) await runs.up("engine", moment);
      await runs.succeeds("up");
      await runs.succeeds("up", "--expect-no-changes");
      await runs.succeeds("destroy");
      expect(await left()).toEqual([]);
    },
    timeoutOf(moments.length + 3),
  );
});
