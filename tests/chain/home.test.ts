// The home environment as a person tries it on a lab: `npm run up -- home --lab`, with its file as it is.
import { readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { parse } from "yaml";
import { addressPlan } from "../../components/network/addressPlan.ts";
import type { Ended } from "../../scripts/workspace/run.ts";
import { parseClusterConfig } from "../../stacks/config.ts";
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

/** What a program in the lab says. */
async function inside(...command: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await bench.npm("lab", "--name", "home", "exec", "--", ...command);
  if (code !== 0) throw new Error(`${command.join(" ")} ended with ${code}: ${stderr}${stdout}`);
  return stdout;
}

async function machines(): Promise<LabMachine[]> {
  const { stdout } = await bench.npm("lab", "--name", "home", "status");
  return JSON.parse(stdout).lab.machines;
}

/** The first machine that has the VIP by then. */
const holder = async () => (await machines()).find(({ addresses = [] }) => addresses.includes(vip))?.name;

describe("npm run up -- home --lab, from nothing", () => {
  let up: Ended;
  beforeAll(async () => {
    up = await bench.npmWith({ timeout }, "up", "home", "--lab", ...silent);
  });

  test("S4.1 S4.7 ends with a cluster that Flux reconciles, on a lab of its own", () => {
    expect({ code: up.code, last: up.code === 0 ? "" : up.stdout.slice(-3_000) }).toEqual({ code: 0, last: "" });
    expect(up.stderr).toContain("starting the lab 'home'; npm run lab -- --name home down ends it");
    expect(up.stdout).toMatch(/^ *VirtualAddress +10\.0\.0\.20 is up, shared by cp-1, cp-2, cp-3/m);
    expect(up.stdout).toMatch(/^ *GitOpsReady +apps, flux-system, secrets at main@sha1:/m);
  });

  test("S4.1 S4.2 has the five VMs with the ids, addresses and MACs that follow from the list", async () => {
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

  test("S4.3 has asked nobody for an address", async () => {
    expect(JSON.parse(await inside("curl", "--silent", "http://192.0.2.2/leases"))).toEqual([]);
  });

  test("U1 U3 has every command of docs/operations.md work", async () => {
    const there = new Set(inlineCommands("docs/operations.md", "npm run"));
    const lines = [...there].filter((line) => / -- home\b/.test(line));
    expect(lines).toEqual(expect.arrayContaining(["npm run drift -- home", "npm run up -- home --yes"]));
    for (const line of lines) {
      if (line.startsWith("npm run destroy")) continue; // the last test does
      // What asks before it does something has nobody to answer here.
      const asks = /npm run (up|refresh) /.test(line) && !line.includes("--yes");
      const { code, stdout, stderr } = await bench.typed(asks ? `${line} --yes` : line, { timeout });
      expect({ line, code, said: code === 0 ? "" : stdout + stderr }).toEqual({ line, code: 0, said: "" });
    }
  });

  test("S4.4 hands out the VIP, which goes on when the node that has it loses its power", async () => {
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
  });

  test("U1 stays on that lab without a word", async () => {
    const preview = await bench.npm("preview", "home");
    expect(preview).toMatchObject({
      code: 0,
      stderr: expect.stringContaining("home is on the lab 'home', where --lab"),
    });
    expect(preview.stdout).toMatch(/Resources:\n {4}\d+ unchanged\n/);
  });

  test("U1 is not put on a lab while its state is that of its own platform", async () => {
    const record = join(bench.work, "lab", "home.deployed.json");
    renameSync(record, `${record}.away`);
    const refused = await bench.npm("preview", "home", "--lab");
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("home is deployed on its own platform") });
    renameSync(`${record}.away`, record);
  });

  test("S4.7 is taken off by destroy, also with a node that has no power", async () => {
    const destroyed = await bench.npmWith({ timeout }, "destroy", "home", ...silent);
    expect(destroyed).toMatchObject({ code: 0 });
    expect(await machines()).toEqual([]);
    const preview = await bench.npm("preview", "home");
    expect(preview.stderr).not.toContain("is on the lab");
    expect(preview).toMatchObject({ code: 0, stdout: expect.stringMatching(/Resources:\n {4}\+ \d+ to create\n/) });
  });
});
