// `npm run lab` with a program that tells what it was called with.
import { accessSync, constants, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { type Checkout, makeCheckout } from "../support/checkout.ts";

let checkout: Checkout;
beforeAll(() => {
  checkout = makeCheckout();
});
beforeEach(() => {
  checkout.reset();
  checkout.install("go");
  // What go builds then: a program that prints its arguments, each in brackets, and ends with 7.
  const program = String.raw`#!/bin/sh\nprintf "[%%s]" "$@"\nexit 7\n`;
  checkout.on("go build", `while [ "$1" != -o ]; do shift; done; printf '${program}' >"$2"; chmod +x "$2"; exit`);
});
afterAll(() => checkout.remove());

const built = () =>
  checkout
    .calls()
    .map((call) => /^go build .*\/build\/(.*)\.out\//.exec(call)?.[1])
    .filter((name) => name !== undefined);
const folder = (name: string) => join(checkout.folder, ".work", "lab", name);

describe("npm run lab", () => {
  test.each([[[]], [["--help"]], [["-h"]]])("%j tells what there is, and builds nothing", async (args) => {
    const ended = await checkout.run("lab", ...args);
    expect(ended).toMatchObject({ code: 0, stderr: "" });
    expect(ended.stdout).toMatch(/^npm run lab -- \[--name <lab>\] <command>.*\n(.*\n)+ {2}down +end a lab/);
    expect(checkout.calls()).toEqual([]);
    expect(existsSync(join(checkout.folder, ".work"))).toBe(false);
  });

  test("is told of a command that there is not, before anything is built", async () => {
    const ended = await checkout.run("lab", "upp");
    expect(ended).toMatchObject({ code: 1, stderr: expect.stringMatching(/^sluice: the lab has no command 'upp'\./) });
    expect(checkout.calls()).toEqual([]);
  });

  test("builds the lab's own program alone for what needs no other, and ends as it does", async () => {
    const ended = await checkout.run("lab", "status", "--name", "second");
    expect(ended).toMatchObject({ code: 7, stdout: `[status][--dir][${folder("second")}]` });
    expect(built()).toEqual(["sluice-lab"]);
  });

  test("builds the lab's own program alone to ask it for a command's options", async () => {
    expect(await checkout.run("lab", "up", "--help")).toMatchObject({
      stdout: `[up][--dir][${folder("default")}][--help]`,
    });
    expect(built()).toEqual(["sluice-lab"]);
  });

  test("leaves to a program that it runs inside all that follows it", async () => {
    const { stdout } = await checkout.run("lab", "exec", "kubectl", "get", "nodes", "--name", "x", "--help");
    expect(stdout).toBe(`[exec][--dir][${folder("default")}][--][kubectl][get][nodes][--name][x][--help]`);
  });

  test("tells what runs inside where charts are", async () => {
    const program = String.raw`#!/bin/sh\necho "$SLUICE_CHARTS"\n`;
    checkout.on("go build", `while [ "$1" != -o ]; do shift; done; printf '${program}' >"$2"; chmod +x "$2"; exit`);
    const { stdout } = await checkout.run("lab", "exec", "anything");
    expect(stdout).toBe(`${checkout.entries("charts")[0]}\n`);
  });

  test("lets programs inside find the cluster that is up there, whatever leads a person to others", async () => {
    const program = String.raw`#!/bin/sh\necho "$KUBECONFIG $TALOSCONFIG"\n`;
    checkout.on("go build", `while [ "$1" != -o ]; do shift; done; printf '${program}' >"$2"; chmod +x "$2"; exit`);
    checkout.env.KUBECONFIG = "/of/another/cluster";
    expect((await checkout.run("lab", "exec", "anything")).stdout).toBe("/of/another/cluster \n");
    const files = ["kubeconfig", "talosconfig"].map((kind) => `${folder("default")}.${kind}`);
    mkdirSync(join(checkout.folder, ".work", "lab"), { recursive: true });
    for (const file of files) writeFileSync(file, "");
    expect((await checkout.run("lab", "exec", "anything")).stdout).toBe(`${files.join(" ")}\n`);
  });

  test.each(["up", "run"])("%s builds all that a lab runs, and tells the lab where it is", async (command) => {
    const ended = await checkout.run("lab", command, "--seed", "2");
    const tools = join(checkout.folder, ".work", "lab", "tools.json");
    const needs = join(checkout.folder, ".work", "lab", "default.needs.json");
    const definitions = join(checkout.entries("charts")[0] ?? "", "cilium-crds");
    const options = `[--tools][${tools}][--definitions][${definitions}][--needs][${needs}][--seed][2]`;
    expect(ended.stdout).toBe(`[${command}][--dir][${folder("default")}]${options}`);
    expect(JSON.parse(readFileSync(needs, "utf8"))).toEqual({}); // no environment here runs on a lab
    const names = ["controlplane", "talosctl", "helm", "csi-provisioner", "configcheck-1.12", "sluice-lab"];
    expect(built()).toEqual(expect.arrayContaining(names));
    const paths: Record<string, string> = JSON.parse(readFileSync(tools, "utf8"));
    expect(Object.keys(paths)).toEqual(
      expect.arrayContaining(["kubectl", "etcd", "talosctl", "kubeseal", "sluice-lab"]),
    );
    for (const path of Object.values(paths)) expect(() => accessSync(path, constants.X_OK)).not.toThrow();
  });
});
