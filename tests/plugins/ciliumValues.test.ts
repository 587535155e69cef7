// components/platform/ciliumValues.txt lists all values that Cilium's chart reads. UPDATE_GOLDENS=1 writes it again, for another version of the chart.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { root } from "../../scripts/base/paths.ts";
import { ensureTools } from "../../scripts/toolchain/ensure.ts";
import { entryFolder } from "../../scripts/toolchain/entry.ts";
import { charts } from "../../scripts/toolchain/labTools.ts";
import { valueLines } from "./support/valueLines.ts";

test("S4.6 the list of Cilium's values is that of the chart's own schema", async () => {
  await ensureTools([charts]);
  const chart = join(entryFolder(charts), "cilium");
  const lines = valueLines(JSON.parse(readFileSync(join(chart, "values.schema.json"), "utf8")));
  const [, version] = /^version: (\S+)$/m.exec(readFileSync(join(chart, "Chart.yaml"), "utf8")) ?? [];
  const text = `# Values of Cilium's chart ${version}, from its schema.\n${lines.sort().join("\n")}\n`;
  const file = join(root, "components/platform/ciliumValues.txt");
  if (process.env.UPDATE_GOLDENS) writeFileSync(file, text);
  expect(readFileSync(file, "utf8")).toBe(text);
}, 600_000);
