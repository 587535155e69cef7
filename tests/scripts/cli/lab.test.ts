// `npm run lab` with a program that prints its arguments.
import { accessSync, constants, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { type Checkout, makeCheckout } from "../support/checkout.ts";

let checkout: Checkout;
beforeAll(() => {
  checkout = makeCheckout();
});
beforeEach(() => {
  checkout.reset();
  checkout.install("go");
  // What go builds in this test: a program that prints its arguments, each in brackets, and exits with 7.
  const program = String.raw`#!/bin/sh\nprintf "[%%s]" "$@"\nexit 7\n`;
  checkout.on("go build", `while [ "$1" != -o ]; do shift; done; printf '${program}' >"$2"; chmod +x "$2"; exit`);
});
afterAll(() => checkout.remove());

/** What a lab needs of its host, as programs that end with these codes. */
function host(codes: Readonly<Record<"git" | "unshare", number>>): void {
  for (const [program, code] of Object.entries(codes)) {
    writeFileSync(join(checkout.env.PATH ?? "", program), `#!/bin/sh\nexit ${code}\n`, { mode: 0o755 });
  }
}

const built = () =>
  checkout
    .calls()
    .map((call) => /^go build .*\/building\/(.*)\.out\//.exec(call)?.[1])
    .filter((name) => name !== undefined);
const folder = (name: string) => join(checkout.folder, ".work", "lab", name);

describe("npm run lab", () => {
  test.each([[[]], [["--help"]], [["-h"]]])("%j prints the commands, and builds nothing", async (args) => {
    const ended = await checkout.run("lab", ...args);
    expect(ended).toMatchObject({ code: 0, stderr: "" });
    expect(ended.stdout).toMatch(/^npm run lab -- \[--name <lab>\] <command>.*\n(.*\n)+ {2}down +end a lab/);
    expect(checkout.calls()).toEqual([]);
    expect(existsSync(join(checkout.folder, ".work"))).toBe(false);
  });

  test("refuses an unknown command before anything is built", async () => {
    const ended = await checkout.run("lab", "upp");
    expect(ended).toMatchObject({ code: 1, stderr: expect.stringMatching(/^sluice: the lab has no command 'upp'\./) });
    expect(checkout.calls()).toEqual([]);
  });

  test("builds only the lab's program for a command that needs no other, and has its exit code", async () => {
    const ended = await checkout.run("lab", "status", "--name", "second");
    expect(ended).toMatchObject({ code: 7, stdout: `[status][--dir][${folder("second")}]` });
    expect(built()).toEqual(["sluice-lab"]);
  });

  test("builds only the lab's program to print a command's options", async () => {
    expect(await checkout.run("lab", "up", "--help")).toMatchObject({
      stdout: `[up][--dir][${folder("default")}][--help]`,
    });
    expect(built()).toEqual(["sluice-lab"]);
  });

  test("passes everything after a program on to that program", async () => {
    const { stdout } = await checkout.run("lab", "exec", "kubectl", "get", "nodes", "--name", "x", "--help");
    expect(stdout).toBe(`[exec][--dir][${folder("default")}][--][kubectl][get][nodes][--name][x][--help]`);
  });

  test.each([
    [["exec", "talosctl", "version"], ["talosctl"]],
    [
      ["exec", "--", "sh", "-c", "helm list | grep kubeseal"],
      ["helm", "kubeseal"],
    ],
    [["exec", "--", "sh", "-c", "kubectl --namespace flux-system get pods; flux check"], ["flux"]],
    [["exec", "kubectl", "--namespace", "flux-system", "apply", "--kustomize", "charts/flux"], []],
    [["shell"], ["helm", "flux", "kubeseal", "talosctl"]],
  ])("%j builds the clients that it mentions, a shell all of them, and has them on PATH", async (args, clients) => {
    const program = String.raw`#!/bin/sh\necho "$PATH"\n`;
    checkout.on("go build", `while [ "$1" != -o ]; do shift; done; printf '${program}' >"$2"; chmod +x "$2"; exit`);
    const { stdout } = await checkout.run("lab", ...args);
    expect(built().sort()).toEqual([...clients, "sluice-lab"].sort());
    const folders = clients.map((client) => checkout.entries(client)[0]);
    expect(stdout.trim()).toBe([...folders, checkout.env.PATH].join(delimiter));
  });

  test("sets SLUICE_CHARTS for programs inside", async () => {
    const program = String.raw`#!/bin/sh\necho "$SLUICE_CHARTS"\n`;
    checkout.on("go build", `while [ "$1" != -o ]; do shift; done; printf '${program}' >"$2"; chmod +x "$2"; exit`);
    const { stdout } = await checkout.run("lab", "exec", "anything");
    expect(stdout).toBe(`${checkout.entries("charts")[0]}\n`);
  });

  test("sets the credentials of the lab's cluster for programs inside, in place of the user's own", async () => {
    const program = String.raw`#!/bin/sh\necho "$KUBECONFIG $TALOSCONFIG"\n`;
    checkout.on("go build", `while [ "$1" != -o ]; do shift; done; printf '${program}' >"$2"; chmod +x "$2"; exit`);
    checkout.env.KUBECONFIG = "/of/another/cluster";
    expect((await checkout.run("lab", "exec", "anything")).stdout).toBe("/of/another/cluster \n");
    const files = ["kubeconfig", "talosconfig"].map((kind) => `${folder("default")}.${kind}`);
    mkdirSync(join(checkout.folder, ".work", "lab"), { recursive: true });
    for (const file of files) writeFileSync(file, "");
    expect((await checkout.run("lab", "exec", "anything")).stdout).toBe(`${files.join(" ")}\n`);
  });

  test.each(["up", "run"])("%s is refused before anything is built where no lab can run (S6.3)", async (command) => {
    host({ git: 127, unshare: 1 });
    const ended = await checkout.run("lab", command);
    expect(ended).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringMatching(/^sluice: no lab can run here:\n/),
    });
    expect(ended.stderr).toContain("git is not on PATH");
    expect(checkout.calls()).toEqual([]);
  });

  test.each(["up", "run"])("%s builds all that a lab runs, and passes the lab the paths", async (command) => {
    host({ git: 0, unshare: 0 });
    const ended = await checkout.run("lab", command, "--seed", "2");
    const tools = join(checkout.folder, ".work", "lab", "tools.json");
    const needs = join(checkout.folder, ".work", "lab", "default.needs.json");
    const definitions = join(checkout.entries("charts")[0] ?? "", "cilium-crds");
    const options = `[--tools][${tools}][--definitions][${definitions}][--needs][${needs}][--seed][2]`;
    expect(ended.stdout).toBe(`[${command}][--dir][${folder("default")}]${options}`);
    expect(JSON.parse(readFileSync(needs, "utf8"))).toEqual({}); // no environment here runs on a lab
    const names = built();
    expect(names).toEqual(
      expect.arrayContaining(["controlplane", "csi-provisioner", "configcheck-1.12", "sluice-lab"]),
    );
    expect(names).not.toEqual(expect.arrayContaining([expect.stringMatching(/^(talosctl|helm|kubeseal|flux)$/)]));
    const paths: Record<string, string> = JSON.parse(readFileSync(tools, "utf8"));
    expect(Object.keys(paths)).toEqual(expect.arrayContaining(["kubectl", "etcd", "sluice-lab"]));
    expect(Object.keys(paths)).not.toContain("talosctl");
    for (const path of Object.values(paths)) expect(() => accessSync(path, constants.X_OK)).not.toThrow();
  });
});
