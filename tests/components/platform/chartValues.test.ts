import { expect, test } from "@jest/globals";
import { parseValueTypes, valueFindings } from "../../../components/platform/chartValues.ts";

const types = parseValueTypes(
  "# a list\nlabels map\nrelay.enabled boolean\nrelay.ports list\nrelay.size integer|string\nscale number\nany any\n",
);

test.each([
  ["values of their types", { labels: { a: 1 }, relay: { enabled: true, ports: [], size: "1" }, scale: 0.5, any: [] }],
  ["an integer for any number", { scale: 1 }],
  ["nothing, which takes a default away", { relay: null, scale: null }],
])("S4.6 a chart's values: %s are accepted", (_, values) => {
  expect(valueFindings(values, types)).toEqual([]);
});

test("S4.6 a chart's values: what the chart does not list, or lists as another type, is found with its path", () => {
  expect(valueFindings({ relays: {}, relay: { enable: true, size: 0.5 }, scale: "1", labels: [] }, types)).toEqual([
    { kind: "unknown", path: ["relays"], siblings: ["labels", "relay", "scale", "any"] },
    { kind: "unknown", path: ["relay", "enable"], siblings: ["enabled", "ports", "size"] },
    { kind: "type", path: ["relay", "size"], types: ["integer", "string"], value: 0.5 },
    { kind: "type", path: ["scale"], types: ["number"], value: "1" },
    { kind: "type", path: ["labels"], types: ["map"], value: [] },
  ]);
});
