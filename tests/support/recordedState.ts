// States of stacks that an earlier commit has deployed, from tests/fixtures/states: one line per resource, with repeated texts written once.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../scripts/base/paths.ts";

/** The passphrase of all of them. */
export const recordedPassphrase = "for a test";

interface Resource {
  readonly urn: string;
  readonly type: string;
  readonly id?: string;
  readonly custom?: boolean;
  readonly inputs?: Readonly<Record<string, unknown>>;
  readonly outputs?: Readonly<Record<string, unknown>>;
}

/** In the format of `pulumi stack export`. */
export interface ExportedState {
  readonly version: number;
  readonly deployment: {
    readonly manifest: unknown;
    readonly secrets_providers: unknown;
    readonly resources: readonly Resource[];
  };
}

/** The first line: everything that is not a resource, and the texts that resources refer to by index. */
interface Head {
  readonly version: number;
  readonly manifest: unknown;
  readonly secrets_providers: unknown;
  /** Encrypted. */
  readonly secrets: readonly string[];
  readonly texts: readonly string[];
}

export const secretKey = "4dabf18193072939515e22adb298388d";
export const secretMark = "1b47061264138c4ac30d75fd1eb44270";
/** Longer texts that occur more than once are written once. */
const longText = 200;

/** Turns a state that was recorded as stack `test` into that of another stack. */
export function recordedState(name: string, stack = "test"): ExportedState {
  const [first = "", ...lines] = readFileSync(fixture(`${name}.jsonl`), "utf8")
    .trimEnd()
    .split("\n");
  const { version, manifest, secrets_providers, secrets, texts }: Head = JSON.parse(first);
  const resources = lines.map((line): Resource => {
    const renamed = line
      .replaceAll("urn:pulumi:test::", `urn:pulumi:${stack}::`)
      .replaceAll("pulumi:pulumi:Stack::sluice-test", `pulumi:pulumi:Stack::sluice-${stack}`);
    const resource: Resource = JSON.parse(renamed, (_, value) => {
      if (typeof value?.$secret === "number") return { [secretKey]: secretMark, ciphertext: secrets[value.$secret] };
      return typeof value?.$text === "number" ? texts[value.$text] : value;
    });
    const { $inputs = [], ...outputs } = resource.outputs ?? {};
    const same = ($inputs as string[]).map((key) => [key, resource.inputs?.[key]]);
    return resource.outputs === undefined
      ? resource
      : { ...resource, outputs: { ...Object.fromEntries(same), ...outputs } };
  });
  return { version, deployment: { manifest, secrets_providers, resources } };
}

/** The environment that was deployed, from its settings file. */
export function recordedSettings(name: string): string {
  return readFileSync(fixture(`${name}.yaml`), "utf8");
}

function fixture(file: string): string {
  return join(root, "tests", "fixtures", "states", file);
}

/** The lines of a fixture, from a state that was exported with its secrets encrypted, and again with them in plain text. */
export function compact(encrypted: ExportedState, plain: ExportedState): string {
  const secrets = new Map<string, string>();
  const texts = new Map<string, number>();
  const shorten = (value: unknown, shown: unknown): unknown => {
    if (typeof value === "string" && value.length > longText) {
      if (!texts.has(value)) texts.set(value, texts.size);
      return { $text: texts.get(value) };
    }
    if (Array.isArray(value)) return value.map((one, place) => shorten(one, (shown as unknown[])[place]));
    if (typeof value !== "object" || value === null) return value;
    if (secretKey in value && "ciphertext" in value) {
      const { plaintext } = shown as { readonly plaintext: string };
      if (!secrets.has(plaintext)) secrets.set(plaintext, String(value.ciphertext));
      return { $secret: [...secrets.keys()].indexOf(plaintext) };
    }
    return Object.fromEntries(
      Object.entries(value).map(([key, one]) => [key, shorten(one, (shown as Record<string, unknown>)[key])]),
    );
  };
  const lines = encrypted.deployment.resources.map((resource, place) => {
    const {
      created: _,
      modified: _m,
      propertyDependencies: _p,
      sourcePosition: _s,
      stackTrace: _t,
      ...kept
    } = resource as Resource & Record<string, unknown>;
    const { inputs = {}, outputs, ...rest } = shorten(kept, plain.deployment.resources[place]) as Resource;
    // Nothing reads the outputs of a component or of the stack.
    if (outputs === undefined || resource.custom !== true) return JSON.stringify({ ...rest, inputs });
    const isSame = (key: string) => JSON.stringify(inputs[key]) === JSON.stringify(outputs[key]);
    const keys = Object.keys(outputs);
    const own = Object.fromEntries(keys.filter((key) => !isSame(key)).map((key) => [key, outputs[key]]));
    return JSON.stringify({ ...rest, inputs, outputs: { $inputs: keys.filter(isSame), ...own } });
  });
  const { version, deployment } = encrypted;
  const { manifest, secrets_providers } = deployment;
  const head: Head = { version, manifest, secrets_providers, secrets: [...secrets.values()], texts: [...texts.keys()] };
  return `${[JSON.stringify(head), ...lines].join("\n")}\n`;
}
