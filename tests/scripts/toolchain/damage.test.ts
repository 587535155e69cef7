import {
  chmodSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { type Checkout, makeCheckout } from "../support/checkout.ts";

let checkout: Checkout;
beforeAll(async () => {
  checkout = makeCheckout();
  checkout.install("go");
  await checkout.run("toolchain", "plugins");
});
afterAll(() => checkout.remove());

const inEntry = (name: string) => join(checkout.entries("plugins")[0] ?? "", name);
const json = () => inEntry("entry.json");

describe("a damaged entry of the cache is noticed and rebuilt", () => {
  // One after another, on the entry that the one before had rebuilt.
  test.each<[string, string, () => void]>([
    ["a program cut short", "all-plugins is not what was built", () => truncateSync(inEntry("all-plugins"), 3)],
    [
      "a program overwritten in its size and with its time",
      "all-plugins is not what was built",
      () => {
        const { size, atime, mtime } = statSync(inEntry("all-plugins"));
        writeFileSync(inEntry("all-plugins"), "x".repeat(size));
        utimesSync(inEntry("all-plugins"), atime, mtime);
      },
    ],
    ["a program gone", "all-plugins is missing", () => unlinkSync(inEntry("all-plugins"))],
    ["a program that cannot be run", "all-plugins cannot be run", () => chmodSync(inEntry("all-plugins"), 0o644)],
    [
      "a folder in place of a program",
      "all-plugins is not what was built",
      () => {
        unlinkSync(inEntry("all-plugins"));
        mkdirSync(inEntry("all-plugins"));
      },
    ],
    ["a link gone", "pulumi-resource-talos is missing", () => unlinkSync(inEntry("pulumi-resource-talos"))],
    [
      "a link that leads nowhere",
      "pulumi-resource-talos is missing",
      () => {
        unlinkSync(inEntry("pulumi-resource-talos"));
        symlinkSync("pulumi-resource-talos", inEntry("pulumi-resource-talos"));
      },
    ],
    ["its description gone", "entry.json is missing or broken", () => unlinkSync(json())],
    ["its description cut short", "entry.json is missing or broken", () => truncateSync(json(), 40)],
    ["another description", "entry.json is missing or broken", () => writeFileSync(json(), "{}")],
    ["no description in its place", "entry.json is missing or broken", () => writeFileSync(json(), "null")],
  ])("%s", async (_, what, damage) => {
    damage();
    checkout.calls();
    const ended = await checkout.run("toolchain", "plugins");
    expect(ended).toMatchObject({ code: 0 });
    const message = `sluice: plugins in the cache is damaged (${what}); rebuilding it\n`;
    expect(ended.stderr.startsWith(message)).toBe(true);
    expect(ended.stderr.split("damaged")).toHaveLength(2);
    expect(checkout.calls().filter((call) => call.startsWith("go build"))).toHaveLength(1);
    expect(readFileSync(inEntry("pulumi-resource-hcloud"), "utf8")).toBe("#!/bin/sh\necho all-plugins runs\n");
  });

  test("the last of them is intact again", async () => {
    expect(await checkout.run("toolchain", "plugins")).toMatchObject({ code: 0, stderr: "" });
  });

  test("but not a file that was only touched", async () => {
    utimesSync(inEntry("all-plugins"), new Date(), new Date());
    checkout.calls();
    const before = readFileSync(json(), "utf8");
    expect(await checkout.run("toolchain", "plugins")).toMatchObject({ code: 0, stderr: "" });
    expect(checkout.calls()).toEqual([]);
    expect(readFileSync(json(), "utf8")).not.toBe(before);
  });

  test("and stays in its place until the new one is complete", async () => {
    truncateSync(inEntry("all-plugins"), 3);
    const folder = checkout.entries("plugins")[0] ?? "";
    checkout.on("go build", "exit 1");
    expect(await checkout.run("toolchain", "plugins")).toMatchObject({ code: 1 });
    expect(checkout.entries("plugins")).toEqual([folder]);
    rmSync(checkout.fake("on-go-build"));
  });
});
