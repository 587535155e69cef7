import { afterEach, describe, expect, test } from "@jest/globals";
import type { Send } from "../../../components/api/callApi.ts";
import { operations, type RegistrationInputs } from "../../../components/images/factorySchematic.provider.ts";
import { imageFactory } from "../../../components/images/imageFactory.ts";
import { schematicId, schematicYaml } from "../../../components/images/schematic.ts";
import { FakeClock } from "../talos/fakeClock.ts";

const schematic = { extensions: ["siderolabs/qemu-guest-agent"], kernelArgs: [] };
const inputs: RegistrationInputs = {
  factory: "factory.example.org",
  schematic: schematicYaml(schematic),
  schematicId: schematicId(schematic),
  talosVersion: "1.12.6",
  extensions: [],
  deadlineSeconds: 45,
  row: "the urn",
};
type Answer = Error | { readonly status: number; readonly body: string };
const knows = (id: string): Answer => ({ status: 201, body: JSON.stringify({ id }) });

function told(...answers: Answer[]) {
  return create(inputs, answers);
}

function create(inputs: RegistrationInputs, answers: Answer[]) {
  const asked: unknown[] = [];
  const send: Send = async (url, { method, body }) => {
    asked.push([url, method, body]);
    const answer = answers.shift();
    if (answer === undefined) throw new Error("asked once too often");
    if (answer instanceof Error) throw answer;
    return { reason: "", ...answer };
  };
  const clock = new FakeClock();
  const factory = (host: string) => ({ ...imageFactory(host), send });
  const result = operations.create(inputs, { factory, clock, random: () => 0 });
  return { result, asked };
}

describe("a schematic at the Image Factory", () => {
  const { IMAGE_FACTORY_ENDPOINT } = process.env;
  afterEach(() => {
    if (IMAGE_FACTORY_ENDPOINT === undefined) delete process.env.IMAGE_FACTORY_ENDPOINT;
    else process.env.IMAGE_FACTORY_ENDPOINT = IMAGE_FACTORY_ENDPOINT;
  });

  test("S2.3 is sent as the factory writes it, and has the id that was computed here", async () => {
    delete process.env.IMAGE_FACTORY_ENDPOINT;
    const { result, asked } = told(knows(inputs.schematicId));
    expect(await result).toEqual(inputs);
    expect(operations.id(inputs)).toBe(inputs.schematicId);
    expect(asked).toEqual([["https://factory.example.org/schematics", "POST", inputs.schematic]]);
  });

  test("S2.3 is sent to IMAGE_FACTORY_ENDPOINT if that is set", async () => {
    process.env.IMAGE_FACTORY_ENDPOINT = "http://192.0.2.20/";
    const { result, asked } = told(knows(inputs.schematicId));
    await result;
    expect(asked).toEqual([["http://192.0.2.20/schematics", "POST", inputs.schematic]]);
  });

  test("S2.3 is refused if the factory has another id for it, with both ids", async () => {
    const message = await told(knows("another")).result.catch(String);
    expect(message).toContain("SLU-M112 Image Factory returned a different schematic id");
    expect(message).toContain(`expected:   schematic ${inputs.schematicId} at factory.example.org`);
    expect(message).toContain("seen:       it is another there");
  });

  test.each<[string, Answer]>([
    ["does not answer", new Error("connect ECONNREFUSED")],
    ["is busy", { status: 429, body: "slow down" }],
    ["has a fault", { status: 502, body: "<html>Bad Gateway</html>" }],
    ["is behind a proxy that answers for it", { status: 200, body: "<html>Sign in</html>" }],
  ])("S1.2 is sent again when the factory %s", async (_, answer) => {
    const { result, asked } = told(answer, answer, knows(inputs.schematicId));
    expect(await result).toEqual(inputs);
    expect(asked).toHaveLength(3);
  });

  test("S1.7 fails with the factory's words when it does not answer", async () => {
    const silence = new Error("connect ECONNREFUSED 198.51.100.1:443");
    const { result, asked } = told(...Array<Answer>(10).fill(silence));
    const message = await result.catch(String);
    expect(message).toContain("SLU-M111 The Image Factory rejected a call or failed");
    expect(message).toContain("ECONNREFUSED 198.51.100.1:443");
    // After 1, 2, 4, 8, 10 and 10 seconds: another ten would be too many.
    expect(asked).toHaveLength(7);
  });

  test("S2.3 fails at once if the factory rejects it, with its words", async () => {
    const { result, asked } = told({ status: 400, body: "yaml: unknown field\nmore" });
    expect(await result.catch(String)).toContain("answers 400: yaml: unknown field");
    expect(asked).toHaveLength(1);
  });

  describe("with extensions", () => {
    const offers = (...names: string[]): Answer => ({
      status: 200,
      body: JSON.stringify(names.map((name) => ({ name }))),
    });
    const withExtensions = (...extensions: string[]) => ({ ...inputs, extensions });

    test("S2.3 is refused where the factory has one of nearly that name, with that name", async () => {
      const args = withExtensions("siderolabs/qemu-guest-agnt");
      const { result, asked } = create(args, [knows(inputs.schematicId), offers("siderolabs/qemu-guest-agent")]);
      const message = await result.catch(String);
      expect(message).toContain("SLU-M116 The Image Factory has no such extension");
      expect(message).toContain(
        "'siderolabs/qemu-guest-agnt' is not among them - did you mean 'siderolabs/qemu-guest-agent'?",
      );
      expect(asked.at(-1)).toEqual([
        expect.stringMatching(/\/version\/v1\.12\.6\/extensions\/official$/),
        undefined,
        undefined,
      ]);
    });

    test.each<[string, Answer]>([
      ["the factory has them", offers("siderolabs/qemu-guest-agent")],
      ["the factory has them by a newer name", offers("siderolabs/zfs")],
      ["the factory has no such list", { status: 404, body: "not found" }],
    ])("S2.3 is accepted where %s", async (_, list) => {
      const args = withExtensions("siderolabs/qemu-guest-agent");
      expect(await create(args, [knows(inputs.schematicId), list]).result).toEqual(args);
    });
  });

  test("U2 is compared offline: another schematic or factory is sent again", () => {
    const { difference } = operations;
    expect(difference(inputs, inputs)).toEqual({ kind: "none" });
    expect(difference(inputs, { ...inputs, schematic: "customization: {}\n" })).toEqual({
      kind: "replace",
      keys: ["schematic"],
    });
    expect(difference(inputs, { ...inputs, factory: "other" })).toEqual({ kind: "replace", keys: ["factory"] });
  });
});
