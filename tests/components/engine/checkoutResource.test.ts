import { existsSync } from "node:fs";
import { expect, test } from "@jest/globals";
import * as pulumi from "@pulumi/pulumi";
import { CheckoutResource } from "../../../components/engine/checkoutResource.ts";
import { type RecordedResource, record } from "../../support/mocks.ts";

class Stage extends pulumi.ComponentResource {
  constructor() {
    super("sluice:test:Stage", "stage", {});
  }
}

class Lamp extends CheckoutResource {
  constructor(name: string, opts?: pulumi.CustomResourceOptions) {
    const url = new URL("../../../components/talos/nodes/bootstrap.ts", import.meta.url).href;
    const type = { url, module: "rooms", name: "Lamp", secrets: ["key", "seen"], outputs: ["isOn", "seen"] };
    super(type, name, { room: "hall", key: "geheim", shade: undefined }, opts);
  }
}

/** The inputs of the lamp, without the provider's text; and that text. */
function parts(resources: readonly RecordedResource[]) {
  const made = resources.find(({ name }) => name === "lamp");
  const { __provider: text = "", ...inputs } = (made?.inputs ?? {}) as { readonly __provider?: string };
  return { made, inputs, text };
}

test("a resource of the checkout has its own type, its row, and its secrets marked, including outputs", async () => {
  const { resources } = await record(() => new Lamp("lamp", { parent: new Stage() }));
  const { made, inputs } = parts(resources);
  expect(made).toMatchObject({
    type: "pulumi-nodejs:dynamic/rooms:Lamp",
    parent: "sluice:test:Stage stage",
    additionalSecretOutputs: ["key", "seen"],
  });
  expect(inputs).toEqual({
    room: "hall",
    key: { secret: "geheim" },
    row: "urn:pulumi:test::sluice::sluice:test:Stage$pulumi-nodejs:dynamic/rooms:Lamp::lamp",
  });
});

test("a resource of the checkout keeps no more code in the state than the path to its provider, and what to do where Node cannot load it", async () => {
  const { resources } = await record(() => new Lamp("lamp"));
  const { text } = parts(resources);
  const [, file = ""] = /file: "([^"]+)"/.exec(text) ?? [];
  expect(file).toBe("components/talos/nodes/bootstrap.provider.ts");
  expect(existsSync(file)).toBe(true);
  expect(text.match(/import\(`[^`]*`\)/g)).toEqual([`import(\`\${process.cwd()}/\${file}\`)`]);
  expect(text.match(/\(await load\(\)\)\.\w+/g)).toEqual(
    ["create", "read", "diff", "update", "remove"].map((call) => `(await load()).${call}`),
  );
  expect(text.length).toBeLessThan(2_500);
});
