// The provider texts in states of earlier versions: each is run as the engine runs it, and works with the current code. docs/decisions/provider-paths.md
import { join } from "node:path";
import { afterAll, beforeAll, expect, jest, test } from "@jest/globals";
import { recordedState } from "../../support/recordedState.ts";
import { runChild } from "../../support/runChild.ts";
import { Engine } from "../gates/engine.ts";

/** A refresh polls an unmet condition for some seconds. */
jest.setTimeout(60_000);

const engine = new Engine();
beforeAll(() => engine.start());
afterAll(() => engine.stop());

const script = join(import.meta.dirname, "callProvider.mjs");

async function call(text: string, name: string, ...args: readonly unknown[]) {
  const [, , address = ""] = process.argv;
  const { stdout, stderr } = await runChild(process.execPath, [script, address], {
    env: { ...process.env, NODE_OPTIONS: "", HCLOUD_ENDPOINT: "http://127.0.0.1:9" },
    input: JSON.stringify({ text, call: name, args }),
  });
  if (stdout === "") throw new Error(stderr);
  return JSON.parse(stdout) as {
    readonly calls: readonly string[];
    readonly answer?: unknown;
    readonly error?: string;
  };
}

/** Nothing answers at this machine's own address; what is encrypted in a fixture has only its shape. */
function readable(properties: unknown): Record<string, unknown> {
  const text = JSON.stringify(properties).replace(/\b\d{1,3}(\.\d{1,3}){3}\b/g, "127.0.0.1");
  return JSON.parse(text, (key, value) => {
    if (value?.ciphertext === undefined) return value;
    return key === "credentials" ? credentials : "";
  });
}
const empty = { ca: "", crt: "", key: "" };
const credentials = { ...empty, kubeconfig: "", talos: empty };

const recorded = ["hetzner", "proxmox", "existing"]
  .flatMap((platform) => recordedState(platform).deployment.resources)
  .filter(({ type }) => type.startsWith("pulumi-nodejs:dynamic/"));
const texts = new Map(recorded.map((resource) => [String(resource.outputs?.__provider), resource]));
const titled = [...texts].map(([text, resource]) => [resource.type.split("/")[1] ?? "", text, resource] as const);

test("the recorded states have the provider text of every earlier type of resource", () => {
  const kinds = titled.map(([title]) => title.replace(/^gates:.*/, "gates"));
  expect(kinds.toSorted()).toEqual([
    "gates",
    "images:FactorySchematic",
    "images:HetznerSnapshot",
    "machines:MachineChanges",
    "machines:ProxmoxAddress",
    "machines:Release",
    "talos:Bootstrap",
    "talos:ClientCertificate",
    "talos:Members",
    "talos:NodeConfiguration",
  ]);
});

test.each(titled)(
  "the text that a state has for %s compares offline with the current code",
  async (_, text, resource) => {
    const [olds, news] = [readable(resource.outputs), readable(resource.inputs)];
    expect(await call(text, "diff", resource.id, olds, news)).toMatchObject({
      answer: { changes: expect.any(Boolean), replaces: [] },
    });
  },
);

test.each(titled)(
  "the text that a state has for %s reads with the current code, if it reads at all",
  async (title, text, resource) => {
    const { calls, answer, error } = await call(text, "read", resource.id, readable(resource.outputs));
    if (!calls.includes("read")) return;
    // A snapshot is in no cluster: a refresh that gets no answer about it fails, and says why.
    if (title === "images:HetznerSnapshot") expect(error).toMatch(/^SLU-M102 /);
    else expect(answer).toMatchObject({ id: resource.id, props: { __provider: text } });
  },
);

test("the text that a state has for Release releases machines with the current code", async () => {
  const [, text = "", resource] = titled.find(([title]) => title === "machines:Release") ?? [];
  const state = { ...readable(resource?.outputs), reset: false };
  engine.told.length = 0;
  expect(await call(text, "delete", "release", state)).toEqual({ calls: expect.arrayContaining(["delete"]) });
  expect(engine.told).toEqual([expect.stringContaining("nothing is done to these machines")]);
});
