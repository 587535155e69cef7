// Transient faults of the cloud and of the Kubernetes API, several in one bring-up: a single `npm run up` brings the cluster up.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { stringify } from "yaml";
import type { Ended } from "../../scripts/base/run.ts";
import { settings, Workbench } from "../support/cli.ts";

jest.setTimeout(500_000);

const timeout = 480_000;
const bench = new Workbench({ fresh: false });
const off = { enabled: false };
const small = { csi: off, flux: off, charts: { path: ".work/charts" }, stableSeconds: 1, protect: false };
const nodeAt = (address: string, more: object = {}) => [{ name: "cp-1", role: "controlplane", address, ...more }];
/** What of an environment is its platform's. */
const platforms = {
  dev: { nodes: nodeAt("10.0.1.11") },
  home: {
    nodes: nodeAt("10.0.0.11", { vmId: 300 }),
    network: { nodeCidr: "10.0.0.0/16", gateway: "10.0.0.1", addressing: "meta", nameservers: ["10.0.0.1"] },
  },
};

/** Each with its moment, as a scenario of the lab has it. */
const scenarios = {
  // Calls that fail for the moment, and calls that are never answered.
  calls: [
    // Once to Sluice, which asks before it runs the engine, and twice to the plugin.
    { on: "cloud", name: "GET /v1/server_types", do: "fail", code: "502", times: 3 },
    { on: "cloud", name: "GET /v1/firewalls/*", do: "fail", code: "503", times: 1 },
    { on: "cloud", name: "POST /v1/networks", do: "fail", code: "500", times: 1 },
    { on: "cloud", name: "POST /v1/networks/*/actions/add_subnet", do: "fail", code: "503", times: 1 },
    { on: "cloud", name: "POST /v1/firewalls", do: "refuse", times: 1 },
    { on: "cloud", name: "POST /v1/servers", do: "drop", times: 1 },
    { on: "cloud", name: "GET /v1/servers/*", do: "drop", times: 1 },
  ],
  // Nothing is reached for a minute; then one call is answered with an error, an action fails, the answer of another call is lost, and for a while there is a limit.
  cloud: [
    { on: "cloud", do: "refuse", for: "60s" },
    { on: "cloud", name: "GET /v1/firewalls/*", do: "fail", code: "503", times: 1 },
    { on: "cloud", name: "action attach_to_network", do: "fail", times: 1 },
    { on: "cloud", name: "action add_target", do: "fail", times: 1 },
    { on: "cloud", name: "POST /v1/servers", do: "lose", times: 1 },
    {
      ...{ on: "cloud", name: "POST *", do: "fail", code: "429" },
      when: { what: "call", value: "POST /v1/servers" },
      for: "30s",
    },
  ],
  // The VM exists although its creation got no answer: the next attempt adopts it. Sluice's own check gets no answer once.
  proxmox: [
    { on: "cloud", name: "POST /api2/json/nodes/*/qemu", do: "lose", times: 1 },
    { on: "cloud", name: "GET /api2/json/nodes/*/qemu/300/config", do: "drop", times: 1 },
    { on: "cloud", name: "POST /api2/json/nodes/*/qemu/300/status/start", do: "drop", times: 1 },
  ],
  // The API server goes away while Helm installs Cilium; answers of later installations are lost, and the schema is refused once.
  kubernetes: [
    {
      ...{ on: "kube", do: "refuse" },
      when: { what: "call", value: "POST /api/v1/namespaces/kube-system/secrets" },
      for: "15s",
    },
    { on: "kube", name: "POST /apis/apps/v1/namespaces/kube-system/deployments", do: "lose", times: 2 },
    { on: "kube", name: "GET /openapi/v2", do: "fail", code: "503", times: 1, skip: 6 },
  ],
};

interface BringUp {
  readonly lab: string;
  readonly environment: string;
  readonly up: Ended;
}

const bringUps = new Map<string, BringUp>();

/** One `npm run up` on a lab of its own. */
async function bringUp(title: string, scenario: readonly object[]): Promise<void> {
  const lab = `transient-${title}`;
  const platform = title === "proxmox" ? "home" : "dev";
  const environment = bench.addEnvironment(platform, { lab: { name: lab }, ...small, ...platforms[platform] });
  const file = join(bench.folder, `${title}.yaml`);
  writeFileSync(file, stringify(scenario));
  expect(await bench.npm("lab", "--name", lab, "up", "--scenario", file)).toMatchObject({ code: 0 });
  const up = await bench.npmWith({ timeout }, "up", environment, "--yes", "--skip-preview");
  bringUps.set(title, { lab, environment, up });
}

// All at once: most of the time is waited.
beforeAll(() => Promise.all(Object.entries(scenarios).map(([title, scenario]) => bringUp(title, scenario))));

afterAll(async () => {
  for (const title of Object.keys(scenarios)) await bench.npm("lab", "--name", `transient-${title}`, "down");
  bench.remove();
});

test("S5.2 calls to the cloud that fail for the moment, or are never answered, end no run", () => {
  const { code, stdout, stderr } = (bringUps.get("calls") as BringUp).up;
  expect({ code, said: code === 0 ? "" : `${stdout.slice(-4_000)}${stderr}` }).toEqual({ code: 0, said: "" });
  expect(`${stdout}${stderr}`).not.toMatch(/resum/i);
  expect(stderr).toMatch(/^sluice: not checked whether Hetzner has what this environment names: .* answers 502\b/m);
  expect(stderr).toMatch(/^sluice: Hetzner has not answered POST \/v1\/servers for 20 s$/m);
  expect(stderr).toMatch(/^sluice: Hetzner answered POST \/v1\/servers after 3\d s$/m);
});

test.each(["calls", "proxmox"])(
  "S5.2 the state has nothing of the proxy, without which a preview shows no difference: %s",
  async (title) => {
    const { environment } = bringUps.get(title) as BringUp;
    expect(readFileSync(bench.stateFile(environment), "utf8")).not.toContain("http://127.0.0.1");
    expect(await bench.npm("preview", environment, "--expect-no-changes")).toMatchObject({ code: 0 });
  },
);

test("S5.2 a call to Proxmox that is never answered is reported and ended after 45 s", () => {
  const { stderr } = (bringUps.get("proxmox") as BringUp).up;
  expect(stderr).toMatch(/^sluice: Proxmox has not answered a call for 40 s$/m);
});

test("S5.2 a VM whose creation got no answer is adopted by the next attempt", () => {
  const { stderr } = (bringUps.get("proxmox") as BringUp).up;
  expect(stderr).toMatch(/^sluice: VM .*\b300\b.* was created by an earlier run .*: adopted into the state$/m);
});

describe.each(["cloud", "kubernetes", "proxmox"])("S5.2 one `npm run up` with transient faults: %s", (title) => {
  const done = () => bringUps.get(title) as BringUp;

  test("comes up, reports why it resumed, and counts that in the summary", () => {
    const { code, stdout, stderr } = done().up;
    expect({ code, said: code === 0 ? "" : `${stdout.slice(-4_000)}${stderr}` }).toEqual({ code: 0, said: "" });
    const lines = stderr.split("\n").filter((line) => line.includes("resuming"));
    expect(lines).not.toEqual([]);
    for (const line of lines) {
      expect(line).toMatch(/^sluice: resuming in \d+ s: \w+ [\w ]+ \S+ .* \(attempt [2-5] of 5\)$/);
    }
    const times = lines.length === 1 ? "once" : `${lines.length} times`;
    expect(stdout).toMatch(new RegExp(`^ +Resumed +${times}, after transient failures$`, "m"));
  });

  test("has a cluster that is complete", async () => {
    const { lab, environment } = done();
    const ready = ["kubectl", "wait", "nodes", "--all", "--for=condition=Ready", "--timeout=0"];
    expect(await bench.npm("lab", "--name", lab, "exec", "--", ...ready)).toMatchObject({ code: 0 });
    const again = ["--yes", "--skip-preview", "--expect-no-changes"];
    expect(await bench.npmWith({ timeout }, "up", environment, ...again)).toMatchObject({ code: 0 });
  });
});

test("S6.1 an update that names what its platform does not have is refused before the engine starts", async () => {
  const { environment } = bringUps.get("proxmox") as BringUp;
  const worker = { name: "w-1", role: "worker", address: "10.0.0.21", vmId: 301 };
  const proxmox = settings("home").config["sluice:proxmox"] as object;
  bench.editEnvironment(environment, {
    nodes: [...platforms.home.nodes, worker],
    proxmox: { ...proxmox, bridge: "vmbr1" },
  });
  const { code, stdout, stderr } = await bench.npm("up", environment, "--yes", "--skip-preview");
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr.split("\n").slice(0, 2)).toEqual([
    `sluice: SLU-M121 The platform does not have what the environment names: Pulumi.${environment}.yaml has 1 fault`,
    "  seen:       proxmox.bridge: 'vmbr1' is not a bridge of pve that the token may use - did you mean 'vmbr0'?",
  ]);
});

test("S5.2 a drift run whose calls to the cloud fail for the moment reports no drift and no error", async () => {
  const { lab, environment } = bringUps.get("cloud") as BringUp;
  // Calls of the plugin, and those that look for what is in no state.
  for (const name of ["GET /v1/servers/*", "GET /v1/networks/*", "GET /v1/servers", "GET /v1/firewalls"]) {
    const fault = ["--on", "cloud", "--name", name, "--do", "fail", "--code", "503", "--times", "1"];
    expect(await bench.npm("lab", "--name", lab, "fault", "add", ...fault)).toMatchObject({ code: 0 });
  }
  const { code, stdout, stderr } = await bench.npmWith({ timeout }, "drift", environment);
  expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: `${environment}: no drift\n`, stderr: "" });
  expect((await bench.npm("lab", "--name", lab, "fault", "list")).stdout).not.toContain("503");
});

test("S5.2 a release that Helm cannot install because the API went away is installed by the next attempt", () => {
  const { stderr } = (bringUps.get("kubernetes") as BringUp).up;
  expect(stderr).toMatch(/^sluice: resuming in .*: kubernetes release dev-cilium-release \w+/m);
  expect(stderr).toMatch(
    /^sluice: an operation of Helm was interrupted, and is repeated: record sh\.helm\.release\.v1\.cilium\.v1 removed$/m,
  );
});
