// The home environment as a user tries it on a lab: `npm run up -- home --lab`, with its file unchanged.
import { readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { parse } from "yaml";
import { addressPlan } from "../../components/network/addressPlan.ts";
import type { Ended } from "../../scripts/base/run.ts";
import { parseClusterConfig } from "../../stacks/config/config.ts";
import { Workbench } from "../support/cli.ts";
import { inlineCommands } from "../support/docs.ts";
import { rawConfig } from "../support/rawConfig.ts";

jest.setTimeout(500_000);

const timeout = 480_000;
const silent = ["--yes", "--skip-preview"];
const vip = "10.0.0.20";
const bench = new Workbench({ fresh: true });
afterAll(async () => {
  await bench.npm("lab", "--name", "home", "down");
  bench.remove();
});

interface LabMachine {
  readonly name: string;
  readonly macs: readonly string[];
  readonly addresses?: readonly string[];
}

/** The output of a program in the lab. */
async function inside(...command: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await bench.npm("lab", "--name", "home", "exec", "--", ...command);
  if (code !== 0) throw new Error(`${command.join(" ")} ended with ${code}: ${stderr}${stdout}`);
  return stdout;
}

async function machines(): Promise<LabMachine[]> {
  const { stdout } = await bench.npm("lab", "--name", "home", "status");
  return JSON.parse(stdout).lab.machines;
}

/** The first machine that has the VIP at that time. */
const holder = async () => (await machines()).find(({ addresses = [] }) => addresses.includes(vip))?.name;

describe("npm run up -- home --lab, from nothing", () => {
  let up: Ended;
  beforeAll(async () => {
    up = await bench.npmWith({ timeout }, "up", "home", "--lab", ...silent);
  });

  test("S4.1 S4.7 ends with a cluster that Flux reconciles, on its own lab", () => {
    expect({ code: up.code, last: up.code === 0 ? "" : up.stdout.slice(-3_000) }).toEqual({ code: 0, last: "" });
    expect(up.stderr).toContain("starting the lab 'home'; npm run lab -- --name home down ends it");
    expect(up.stdout).toMatch(/^ *VirtualAddress +10\.0\.0\.20 is up, shared by cp-1, cp-2, cp-3/m);
    expect(up.stdout).toMatch(/^ *GitOpsReady +apps, flux-system, secrets at main@sha1:/m);
  });

  test("S4.1 S4.2 creates the five VMs with the ids, addresses and MACs derived from the list", async () => {
    const config = parseClusterConfig(rawConfig("home"));
    const token = "Authorization: PVEAPIToken=$PROXMOX_VE_API_TOKEN";
    const listed = await inside(
      "sh",
      "-c",
      `curl --silent --insecure --header "${token}" "https://10.0.0.2:8006/api2/json/cluster/resources?type=vm"`,
    );
    const vms: { vmid: number; name: string; status: string }[] = JSON.parse(listed).data;
    expect(vms.map(({ vmid, name, status }) => `${vmid} ${name} ${status}`).sort()).toEqual(
      config.nodes.map(({ name, vmId }) => `${vmId} home-${name} running`),
    );
    const there = await machines();
    for (const { name, mac, address } of addressPlan(config)) {
      expect(there).toContainEqual(
        expect.objectContaining({
          name: `home-${name}`,
          macs: [mac],
          addresses: expect.arrayContaining([address]),
        }),
      );
    }
  });

  test("S4.3 uses no DHCP server [C16]", async () => {
    expect(JSON.parse(await inside("curl", "--silent", "http://192.0.2.2/leases"))).toEqual([]);
  });

  test("U1 U3 makes every command of docs/operations.md work", async () => {
    const there = new Set(inlineCommands("docs/operations.md", "npm run"));
    const lines = [...there].filter((line) => / -- home\b/.test(line));
    expect(lines).toEqual(expect.arrayContaining(["npm run drift -- home", "npm run up -- home --yes"]));
    for (const line of lines) {
      if (line.startsWith("npm run destroy")) continue; // the last test does
      // Nobody answers a prompt here.
      const asks = /npm run (up|refresh) /.test(line) && !line.includes("--yes");
      const { code, stdout, stderr } = await bench.typed(asks ? `${line} --yes` : line, { timeout });
      expect({ line, code, said: code === 0 ? "" : stdout + stderr }).toEqual({ line, code: 0, said: "" });
    }
  });

  test("S6.3 shows every node in 80 columns while it is healthy, during an update, and while one does not answer", async () => {
    const rows = (said: string) => said.split("\n").filter((line) => /^(cp|w)-\d /.test(line));
    const update = bench.npmWith({ timeout }, "up", "home", ...silent);
    const during = await bench.npm("status", "home");
    expect(during).toMatchObject({ code: 0, stderr: "" });
    expect(rows(during.stdout)).toHaveLength(5);
    for (const line of rows(during.stdout)) {
      expect(line).toMatch(/^\S+ +yes +running +1\.12\.6 +[0-9a-f]{8} +in sync +(voter|-) +yes$/);
      expect(line.length).toBeLessThanOrEqual(80);
    }
    expect(await update).toMatchObject({ code: 0 });
    expect(await bench.npm("preflight", "home")).toMatchObject({
      code: 0,
      stdout: "Preflight is open: 5 machines, identities verified\n",
    });
    const doctor = await bench.npm("doctor");
    expect(doctor).toMatchObject({ code: 0, stderr: "" });
    expect(doctor.stdout).toMatch(/^ok +namespaces +labs can run here$/m);
    expect(doctor.stdout).toMatch(/^note +variable +PROXMOX_VE_API_TOKEN is not set/m);
  });

  test("S4.4 puts the VIP into the kubeconfig, and another node takes the VIP over when its holder loses power [C16]", async () => {
    const written = await bench.npm("kubeconfig", "home");
    expect(written).toMatchObject({ code: 0 });
    const own = parse(readFileSync(join(bench.work, "lab", "home.kubeconfig"), "utf8"));
    expect(own.clusters[0].cluster.server).toBe(`https://${vip}:6443`);
    const before = await holder();
    expect(before).toMatch(/^home-cp-\d$/);
    const stays = ["--on", "machine", "--subject", `${before}`, "--do", "crash", "--code", "off", "--times", "1"];
    expect(await bench.npm("lab", "--name", "home", "fault", "add", ...stays)).toMatchObject({ code: 0 });
    await inside(
      "kubectl",
      "wait",
      `node/${before?.replace("home-", "")}`,
      "--for=condition=Ready=Unknown",
      "--timeout=2m",
    );
    const after = await holder();
    expect(after).toMatch(/^home-cp-\d$/);
    expect(after).not.toBe(before);
    expect(await inside("kubectl", "get", "nodes", "--output", "name")).toMatch(/^(node\/\S+\n){5}$/);
    const status = await bench.npm("status", "home");
    expect(status).toMatchObject({ code: 2 });
    expect(status.stdout).toMatch(new RegExp(`^${before?.replace("home-", "")} +no `, "m"));
  });

  test("U1 stays on that lab without --lab", async () => {
    const preview = await bench.npm("preview", "home");
    expect(preview).toMatchObject({
      code: 0,
      stderr: expect.stringContaining("the rehearsal of home on the lab 'home', not its own platform, where --lab"),
    });
    expect(preview.stdout).toMatch(/Resources:\n {4}\d+ unchanged\n/);
  });

  test("U1 is refused on a lab while it is deployed on its own platform", async () => {
    const record = join(bench.work, "lab", "home.deployed.json");
    renameSync(record, `${record}.away`);
    const refused = await bench.npm("preview", "home", "--lab");
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("home is deployed on its own platform") });
    renameSync(`${record}.away`, record);
  });

  test("S4.7 S6.3 is destroyed even with a node that is off, and the lab that was started for it ends", async () => {
    const destroyed = await bench.npmWith({ timeout }, "destroy", "home", ...silent);
    expect(destroyed).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("sluice: the lab 'home' has ended\n"),
      stderr: expect.stringContaining("this is the rehearsal of home on the lab 'home', not its own platform"),
    });
    expect(await bench.npm("lab", "--name", "home", "status")).not.toMatchObject({ code: 0 });
    const preview = await bench.npm("preview", "home");
    expect(preview.stderr).not.toContain("rehearsal");
    expect(preview).toMatchObject({ code: 0, stdout: expect.stringMatching(/Resources:\n {4}\+ \d+ to create\n/) });
  });
});
