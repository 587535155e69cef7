import { afterEach, describe, expect, test } from "@jest/globals";
import { create, diff, type RegistrationInputs } from "../../../components/images/factorySchematicRegistration.ts";
import { imageFactory } from "../../../components/images/imageFactory.ts";
import { schematicId, schematicYaml } from "../../../components/images/schematic.ts";
import { FakeClock } from "../talos/fakeClock.ts";

const schematic = { extensions: ["siderolabs/qemu-guest-agent"], kernelArgs: [] };
const inputs: RegistrationInputs = {
  factory: "factory.example.org",
  schematic: schematicYaml(schematic),
  schematicId: schematicId(schematic),
  deadline: 45,
};
type Answer = Error | { readonly status: number; readonly body: string };
const knows = (id: string): Answer => ({ status: 201, body: JSON.stringify({ id }) });

function told(...answers: Answer[]) {
  const asked: unknown[] = [];
  const fake = async (url: unknown, options?: RequestInit) => {
    asked.push([String(url), options?.method, options?.body]);
    const answer = answers.shift();
    if (answer === undefined) throw new Error("asked once too often");
    if (answer instanceof Error) throw answer;
    return new Response(answer.body, { status: answer.status });
  };
  const clock = new FakeClock();
  const factory = (host: string) => ({ ...imageFactory(host), fetch: fake as typeof fetch });
  const result = create(inputs, { factory, clock, chance: () => 0 });
  return { result, asked };
}

describe("a schematic at the Image Factory", () => {
  const { IMAGE_FACTORY_ENDPOINT } = process.env;
  afterEach(() => {
    if (IMAGE_FACTORY_ENDPOINT === undefined) delete process.env.IMAGE_FACTORY_ENDPOINT;
    else process.env.IMAGE_FACTORY_ENDPOINT = IMAGE_FACTORY_ENDPOINT;
  });

  test("S2.3 is told as the factory writes it, and known by the id that was worked out here", async () => {
    delete process.env.IMAGE_FACTORY_ENDPOINT;
    const { result, asked } = told(knows(inputs.schematicId));
    expect(await result).toEqual({ id: inputs.schematicId, outs: inputs });
    expect(asked).toEqual([["https://factory.example.org/schematics", "POST", inputs.schematic]]);
  });

  test("S2.3 is told where IMAGE_FACTORY_ENDPOINT says", async () => {
    process.env.IMAGE_FACTORY_ENDPOINT = "http://192.0.2.20/";
    const { result, asked } = told(knows(inputs.schematicId));
    await result;
    expect(asked).toEqual([["http://192.0.2.20/schematics", "POST", inputs.schematic]]);
  });

  test("S2.3 that the factory knows under another id is refused, with both", async () => {
    const message = await told(knows("another")).result.catch(String);
    expect(message).toContain("SLU-M112 The Image Factory counts otherwise");
    expect(message).toContain(`wanted: schematic ${inputs.schematicId} at factory.example.org`);
    expect(message).toContain("seen:   it is another there");
  });

  test.each<[string, Answer]>([
    ["does not answer", new TypeError("fetch failed", { cause: new Error("connect ECONNREFUSED") })],
    ["is busy", { status: 429, body: "slow down" }],
    ["has a fault", { status: 502, body: "<html>Bad Gateway</html>" }],
    ["is behind a proxy that answers for it", { status: 200, body: "<html>Sign in</html>" }],
  ])("S1.2 is told again when the factory %s", async (_, answer) => {
    const { result, asked } = told(answer, answer, knows(inputs.schematicId));
    expect(await result).toMatchObject({ id: inputs.schematicId });
    expect(asked).toHaveLength(3);
  });

  test("S1.7 ends with the factory's words when it stays silent", async () => {
    const silence = new TypeError("fetch failed", { cause: new Error("connect ECONNREFUSED 198.51.100.1:443") });
    const { result, asked } = told(...Array<Answer>(10).fill(silence));
    const message = await result.catch(String);
    expect(message).toContain("SLU-M111 The Image Factory refuses or fails");
    expect(message).toContain("ECONNREFUSED 198.51.100.1:443");
    // After 1, 2, 4, 8, 10 and 10 seconds: another ten would be too many.
    expect(asked).toHaveLength(7);
  });

  test("S2.3 that the factory does not take is refused at once, with its words", async () => {
    const { result, asked } = told({ status: 400, body: "yaml: unknown field\nmore" });
    expect(await result.catch(String)).toContain("answers 400: yaml: unknown field");
    expect(asked).toHaveLength(1);
  });

  test("U2 is compared offline: another schematic or factory is told anew", async () => {
    expect(await diff("id", inputs, inputs)).toEqual({ changes: false, replaces: [] });
    expect(await diff("id", inputs, { ...inputs, schematic: "customization: {}\n" })).toEqual({
      changes: true,
      replaces: ["schematic"],
    });
    expect(await diff("id", inputs, { ...inputs, factory: "other" })).toEqual({ changes: true, replaces: ["factory"] });
  });
});
