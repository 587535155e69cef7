import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "@jest/globals";
import { contractOf, deploymentIn } from "../../../scripts/stack/deployment.ts";
import { parseClusterConfig } from "../../../stacks/config/config.ts";
import { rawConfig } from "../../support/rawConfig.ts";

const config = parseClusterConfig({ ...rawConfig("existing"), talosVersion: "1.13.8" });
const recorded = (contract: string) => ({
  type: "pulumi-nodejs:dynamic/talos:ConfigContract",
  outputs: { contract },
});
const secrets = { type: "talos:machine/secrets:Secrets", outputs: { talosVersion: "v1.12" } };

describe("S8.1 the contract that a command reads without the engine", () => {
  test("is the one that the environment asks for, else the recorded one, else that of the machine secrets, else that of Talos", () => {
    const deployment = { resources: [secrets, recorded("v1.11")] };
    expect(contractOf({ ...config, configContract: "v1.13" }, deployment)).toBe("v1.13");
    expect(contractOf(config, deployment)).toBe("v1.11");
    expect(contractOf(config, { resources: [secrets] })).toBe("v1.12");
    expect(contractOf(config, { resources: [] })).toBe("v1.13");
    expect(contractOf(config, undefined)).toBe("v1.13");
  });
});

describe("a state in files", () => {
  const folder = mkdtempSync(join(tmpdir(), "sluice-deployment-"));
  afterAll(() => rmSync(folder, { recursive: true }));
  const stacks = join(folder, ".pulumi", "stacks", "sluice");

  test("is read without the CLI, and is none while it is missing or half written", async () => {
    expect(await deploymentIn(folder, "home")).toBeUndefined();
    mkdirSync(stacks, { recursive: true });
    writeFileSync(join(stacks, "home.json"), '{"version":3,"checkpoint":{"latest":{"resources":[]}}}');
    expect(await deploymentIn(folder, "home")).toEqual({ resources: [] });
    writeFileSync(join(stacks, "home.json"), '{"version":3,"checkp');
    expect(await deploymentIn(folder, "home")).toBeUndefined();
  });
});
