import { readFileSync } from "node:fs";
import { expect, test } from "@jest/globals";
import { gates } from "../../../components/gates/registry.ts";
import { stepTimeouts } from "../../../components/model/settings/time.ts";
import { gatesPage } from "../../../scripts/tools/settings/gatesPage.ts";
import { clusterConfigSchema } from "../../../stacks/schema/clusterConfig.ts";

const page = readFileSync("docs/gates.md", "utf8");

test("docs/gates.md has the table that the gates give (npm run settings)", () => {
  expect(gatesPage(page)).toBe(page);
  for (const { name } of gates) expect(page).toContain(`\n| ${name} | `);
});

test("every key of timeouts bounds one gate or one step", () => {
  const keys = [...Object.keys(stepTimeouts), ...gates.map(({ timeout }) => timeout.key)];
  expect(Object.keys(clusterConfigSchema.shape.timeouts.unwrap().shape)).toEqual(keys);
  expect(new Set(keys).size).toBe(keys.length);
});
