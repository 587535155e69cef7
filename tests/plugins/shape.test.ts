import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import type { PluginSchema, ResourceSchema } from "./support/pluginSchema.ts";
import { usedMembers } from "./support/programUse.ts";
import { schemaShape } from "./support/schemaShape.ts";
import { loadProgram } from "./support/sdk.ts";
import { sdkShape } from "./support/sdkShape.ts";
import { differences, type Shape } from "./support/shape.ts";

const sampleProgram = join(import.meta.dirname, "support", "sampleProgram.ts");
const token = "hcloud:index/sample:Sample";
const text = { type: "string" };

const sample: ResourceSchema = {
  inputProperties: {
    name: text,
    serverId: { type: "integer" },
    labels: { type: "object", additionalProperties: text },
    networks: { type: "array", items: { $ref: "#/types/hcloud:index/SampleNetwork:SampleNetwork" } },
  },
  requiredInputs: ["serverId"],
  properties: { name: text, status: text },
  required: ["name", "status"],
};

/** The shape of a plugin that has the sample with some changes. */
function shapeOf(changes: ResourceSchema = {}, network: object = { ip: text, networkId: { type: "number" } }): Shape {
  const schema: PluginSchema = {
    name: "hcloud",
    provider: {},
    resources: { [token]: { ...sample, ...changes } },
    types: { "hcloud:index/SampleNetwork:SampleNetwork": { type: "object", properties: network as never } },
  };
  return schemaShape(schema, token) as Shape;
}

describe("a difference between SDK and plugin is reported", () => {
  const { name, serverId, labels, networks } = sample.inputProperties ?? {};

  test.each<[string, ResourceSchema, string[]]>([
    [
      "no input of that name",
      { inputProperties: { serverId, labels, networks } as never },
      ["input name: the plugin has it not"],
    ],
    [
      "an input of another type",
      { inputProperties: { name, serverId: text, labels, networks } as never },
      ["input serverId: number in the SDK, string in the plugin"],
    ],
    [
      "a map of other values",
      {
        inputProperties: {
          name,
          serverId,
          labels: { type: "object", additionalProperties: { type: "boolean" } },
          networks,
        } as never,
      },
      ["input labels.*: string in the SDK, boolean in the plugin"],
    ],
    [
      "an input that the plugin demands",
      { requiredInputs: ["serverId", "name"] },
      ["input name: optional in the SDK, required in the plugin"],
    ],
    [
      "an input that only the SDK demands",
      { requiredInputs: [] },
      ["input serverId: required in the SDK, optional in the plugin"],
    ],
    [
      "an input that the SDK has not and the plugin demands",
      { inputProperties: { ...sample.inputProperties, zone: text }, requiredInputs: ["serverId", "zone"] },
      ["input zone: required by the plugin, and the SDK has it not"],
    ],
    ["no output of that name", { properties: { name: text } }, ["output status: the plugin has it not"]],
    [
      "an output that may be missing",
      { required: ["name"] },
      ["output status: always there in the SDK, not always there in the plugin"],
    ],
  ])("%s", (_, changes, expected) => {
    expect(differences(shapeOf(), shapeOf(changes))).toEqual(expected);
  });

  test("a nested property that is missing", () => {
    expect(differences(shapeOf(), shapeOf({}, { networkId: { type: "number" } }))).toEqual([
      "input networks[].ip: the plugin has it not",
    ]);
  });
});

test("something that only the plugin has is no difference", () => {
  const more = {
    inputProperties: { ...sample.inputProperties, zone: text },
    properties: { ...sample.properties, zone: text },
  };
  expect(differences(shapeOf(), shapeOf(more, { ip: text, networkId: { type: "number" }, mac: text }))).toEqual([]);
});

test("an SDK's declarations are read with nested types, maps and optional properties", () => {
  const program = loadProgram([sampleProgram]);
  const server = usedMembers(program, [sampleProgram]).get("hcloud:index/server:Server");
  const { inputs, outputs } = sdkShape(program, server as never);
  expect([
    inputs.get("serverType"),
    inputs.get("labels.*"),
    inputs.get("networks[].networkId"),
    inputs.get("publicNets[].ipv4Enabled"),
    outputs.get("ipv4Address"),
    outputs.get("userData"),
  ]).toEqual([
    { type: "string", required: true },
    { type: "string", required: true },
    { type: "number", required: false },
    { type: "boolean", required: false },
    { type: "string", required: true },
    { type: "string", required: false },
  ]);
});
