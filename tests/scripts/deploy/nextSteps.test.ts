import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { root } from "../../../scripts/base/paths.ts";
import { nextSteps } from "../../../scripts/deploy/nextSteps.ts";
import { settings } from "../../support/cli.ts";

const commands = (text: string) => text.split("\n").flatMap((line) => /^ {4}(.+)$/.exec(line)?.[1] ?? []);

describe("the next steps", () => {
  test("U1 name the lab that the environment runs on", () => {
    const onOther = commands(nextSteps("dev", "other")).filter((line) => line.startsWith("npm run lab"));
    expect(onOther.length).toBeGreaterThan(5);
    for (const line of onOther) expect(line).toMatch(/^npm run lab -- --name other (exec|fault|down)\b/);
    expect(nextSteps("dev", "default")).not.toContain("--name other");
  });

  test("U1 mention no lab if there is none", () => {
    expect(nextSteps("mine", undefined)).not.toMatch(/\blab\b/);
    expect(commands(nextSteps("mine", undefined))).toContain("npm run destroy -- mine");
  });

  test("U1 break an existing node and change an existing file", () => {
    const nodes = settings("dev").config["sluice:nodes"] as { name: string }[];
    expect(nodes.map(({ name }) => `dev-${name}`)).toContain(/--subject (\S+)/.exec(nextSteps("dev", "default"))?.[1]);
    const file = join(root, "lab", "sample", "repository", "apps", "hello", "deployment.yaml");
    expect(readFileSync(file, "utf8")).toContain("replicas: 2\n");
  });
});
