import { readFileSync } from "node:fs";
import { expect, test } from "@jest/globals";
import { findGate, gateNames } from "../../../components/gates/registry.ts";
import { clusterConfigSchema } from "../../../stacks/schema.ts";

const page = readFileSync("docs/gates.md", "utf8");
const rows = [...page.matchAll(/^\| (\w+) \| .+ \| `(\w+)` \| (SLU-\w+) \|$/gm)].map(([, gate, key, code]) => ({
  gate,
  key,
  code,
}));

test("docs/gates.md has every gate in its order, with the code of its own", async () => {
  const codes = await Promise.all(gateNames.map(async (gate) => ({ gate, code: (await findGate(gate)).timeoutCode })));
  expect(rows.map(({ gate, code }) => ({ gate, code }))).toEqual(codes);
});

test("docs/gates.md names each key of timeouts once", () => {
  const keys = Object.keys(clusterConfigSchema.shape.timeouts.unwrap().shape);
  const elsewhere = ["images", "lease", "drain", "kubeconfig"];
  expect(rows.map(({ key }) => key)).toEqual(keys.filter((key) => !elsewhere.includes(key)));
  expect(page).toContain("`images`, `lease`, `drain` and `kubeconfig` are waits before no gate");
});
