// The first command of a new user, and all that it suggests next: `npm start`, from nothing, on its own lab.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { root } from "../../scripts/base/paths.ts";
import type { Ended } from "../../scripts/base/run.ts";
import { programPaths } from "../../scripts/lab/programs.ts";
import { gates } from "../lab/support/gates.ts";
import { State, Workbench } from "../support/cli.ts";
import { devShape, hetznerResources, sealingKey } from "../support/hetznerResources.ts";
import { inSilence } from "../support/withoutNetwork.ts";

jest.setTimeout(400_000);

const timeout = 380_000;
const bench = new Workbench({ fresh: true });
afterAll(async () => {
  await bench.npm("lab", "down");
  bench.remove();
});

const nodes = ["cp-1", "cp-2", "cp-3", "w-1", "w-2", "w-3"];

describe("npm start, from nothing", () => {
  let before: Record<string, string>;
  let started: Ended;
  let state = new State([]);

  beforeAll(async () => {
    before = settingsFiles();
    started = await bench.npmWith({ timeout }, "start");
    if (started.code === 0) state = await bench.exported("dev");
  });

  test("U1 S4.1 ends with a cluster whose gates are all open", () => {
    expect({ code: started.code, last: started.code === 0 ? "" : started.stdout.slice(-3_000) }).toEqual({
      code: 0,
      last: "",
    });
    expect(state.list()).toEqual([...hetznerResources("dev", devShape), sealingKey].sort());
  });

  test("U1 prints what it starts, where the state is, and every node and gate", () => {
    expect(started.stderr).toContain("sluice: starting the lab 'default'; npm run lab -- down ends it");
    expect(started.stdout).toContain(`state: ${bench.work}/state, its passphrase: ${bench.work}/passphrase`);
    for (const name of [...nodes, ...gates]) expect(started.stdout).toMatch(new RegExp(`^ *${name} `, "m"));
  });

  test("S6.3 leaves a timeline page with a lane for every node and every gate, and prints where it is", () => {
    const file = join(bench.work, "timeline", "dev.html");
    expect(started.stdout).toContain(`\n  Timeline of this run: ${file}\n`);
    const page = readFileSync(file, "utf8");
    expect(page).toMatch(/<h1>dev: up in [\d.]+ s<\/h1>/);
    for (const gate of gates) expect(page).toMatch(new RegExp(`class="lane gate.*gate ${gate}<`));
    for (const name of nodes) expect(page).toContain(`server <small>dev-${name}</small>`);
    for (const kind of ["text", "outcome"]) expect(page).toContain(`<li class="${kind}">`);
  });

  test("U1 writes credentials with which the cluster can be reached from this machine", async () => {
    const written = await bench.npm("kubeconfig", "dev");
    expect(written).toMatchObject({ code: 0, stderr: "" });
    const [file = ""] = written.stdout.split("\n").filter((line) => line.startsWith("/"));
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const { kubectl = "" } = programPaths();
    const asked = spawnSync(kubectl, ["--kubeconfig", file, "get", "nodes", "--output", "name"], { encoding: "utf8" });
    expect(asked.stdout.trim().split("\n")).toEqual(nodes.map((name) => `node/${name}`));
  });

  test("U1 makes its files readable by their owner only", () => {
    const names = [
      "state",
      "passphrase",
      "settings",
      "lab/default.kubeconfig",
      "lab/default.talosconfig",
      "timeline/dev.html",
    ];
    const modes = names.map((name) => statSync(join(bench.work, name)).mode & 0o777);
    expect(modes).toEqual([0o700, 0o600, 0o700, 0o600, 0o600, 0o600]);
  });

  test("U1 prints commands to type next, and all of them work", async () => {
    const typed: Record<string, Ended> = {};
    for (const line of nextCommands(started.stdout)) {
      const ended = await bench.typed(line, { timeout });
      expect({ line, code: ended.code, said: ended.code === 0 ? "" : ended.stdout + ended.stderr }).toEqual({
        line,
        code: 0,
        said: "",
      });
      typed[line.replace(/ -- dev.*/, "")] = ended;
    }
    const said = (beginning: string) =>
      Object.entries(typed).find(([line]) => line.startsWith(beginning))?.[1].stdout ?? "";
    expect(said("npm run lab -- exec -- kubectl get nodes")).toMatch(/^w-2 +Ready /m);
    expect(said("npm run lab -- exec -- kubectl --namespace hello wait")).toContain("condition met");
    expect(said("npm run refresh")).toMatch(/gates:Etcd .*must run again: cp-3: /);
    expect(said("npm run up")).toMatch(/^ *Etcd +3 voting members/m);
  });

  test("U1 changes nothing when it runs again", async () => {
    const flags = ["--yes", "--skip-preview", "--expect-no-changes"];
    expect(await bench.npmWith({ timeout }, "up", "dev", ...flags)).toMatchObject({ code: 0 });
  });

  test("U3 names drift and exits with its own code, and reports none when it is fixed", async () => {
    const suspend = (value: string) =>
      bench.typed(
        "npm run lab -- exec -- kubectl --namespace flux-system patch kustomization flux-system --type merge " +
          `--patch '{"spec":{"suspend":${value}}}'`,
      );
    expect(await suspend("true")).toMatchObject({ code: 0 });
    const found = await bench.npm("drift", "dev");
    const line = "gate GitOpsReady: Kustomization flux-system: is suspended: changes in git are not applied";
    expect(found).toMatchObject({
      code: 2,
      stdout: expect.stringContaining(`dev: drift: 1 difference\n\nDrifted:\n  ${line}\n`),
    });
    expect(found.stdout).not.toContain("[urn=");
    const details = await bench.npm("drift", "dev", "--details");
    expect(details).toMatchObject({ code: 2, stdout: expect.stringContaining("[urn=") });
    expect(await suspend("null")).toMatchObject({ code: 0 });
    expect(await bench.npm("drift", "dev")).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("dev: no drift"),
    });
  });

  test("U2 can be previewed without a change when the lab has ended", async () => {
    expect(await bench.npm("lab", "down")).toMatchObject({ code: 0 });
    const preview = await bench.npmWith({ within: inSilence() }, "preview", "dev");
    expect(preview).toMatchObject({ code: 0, stdout: expect.stringMatching(/Resources:\n {4}\d+ unchanged\n/) });
  });

  test("U3 reports no drift and writes no kubeconfig while its lab is not running", async () => {
    const drift = await bench.npm("drift", "dev");
    expect(drift).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("dev is on the lab 'default', which is not running"),
    });
    const kubeconfig = await bench.npm("kubeconfig", "dev");
    expect(kubeconfig).toMatchObject({ code: 1, stderr: expect.stringContaining("the lab 'default' is not running") });
  });

  test("U1 is destroyed to the last resource, even if its lab has ended", async () => {
    const destroyed = await bench.npmWith({ timeout }, "destroy", "dev", "--yes", "--skip-preview");
    expect(destroyed).toMatchObject({ code: 0, stderr: expect.stringContaining("starting the lab 'default'") });
    expect(destroyed.stdout).toContain("sluice: the lab is still running; 'npm run lab -- down' ends it\n");
    expect(destroyed.stdout).toContain(
      "sluice: to delete the stack as well: npm run pulumi -- stack rm dev (Pulumi.dev.yaml is kept)\n",
    );
    const { checkpoint } = JSON.parse(readFileSync(bench.stateFile("dev"), "utf8"));
    expect(checkpoint.latest.resources ?? []).toEqual([]);
    expect(existsSync(join(bench.work, "lab", "default.kubeconfig"))).toBe(false);
  });

  test("U1 leaves the files of the checkout unchanged", () => {
    expect(Object.keys(before)).toContain("Pulumi.dev.yaml");
    expect(settingsFiles()).toEqual(before);
  });

  test("U1 writes into a folder that git ignores by default", () => {
    const names = ["state", "passphrase", "settings", "pulumi", "lab", "charts"].map((name) => `.work/${name}`);
    const ignored = spawnSync("git", ["check-ignore", ...names], { cwd: root, encoding: "utf8" });
    expect(ignored.stdout.trim().split("\n")).toEqual(names);
  });
});

/** Those about this environment, except the last, which destroy it. */
function nextCommands(said: string): string[] {
  const [, next = ""] = said.split("\nNext:\n");
  const [about = ""] = next.split("  Preview an environment of your own");
  return about.split("\n").flatMap((line) => /^ {4}(.+)$/.exec(line)?.[1] ?? []);
}

/** The settings files that git knows, with their text. Other tests have theirs beside them. */
function settingsFiles(): Record<string, string> {
  const known = spawnSync("git", ["ls-files", "Pulumi*.yaml"], { cwd: root, encoding: "utf8" })
    .stdout.trim()
    .split("\n");
  return Object.fromEntries(known.map((name) => [name, readFileSync(join(root, name), "utf8")]));
}
