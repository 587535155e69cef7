// `npm run kubeconfig` and `npm run talosconfig`: what they write, what they print, and what they refuse.
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { parse, stringify } from "yaml";
import type { Ended } from "../../scripts/base/run.ts";
import { Workbench } from "../support/cli.ts";
import {
  type ExportedState,
  recordedPassphrase,
  recordedSettings,
  recordedState,
  secretKey,
  secretMark,
} from "../support/recordedState.ts";

jest.setTimeout(180_000);

const bench = new Workbench({ fresh: false });
afterAll(() => bench.remove());

/** A recorded state has no values that were left out as too long: among them the talosconfig. */
function withTalosconfig(state: ExportedState): ExportedState {
  const key = Buffer.from("the key of a client, which is not printed").toString("base64");
  const contexts = { test: { endpoints: ["203.0.113.10"], key } };
  const talosconfig = { [secretKey]: secretMark, plaintext: JSON.stringify(stringify({ context: "test", contexts })) };
  const resources = state.deployment.resources.map((one) =>
    one.type === "sluice:talos:Talosconfig" ? { ...one, outputs: { talosconfig } } : one,
  );
  return { ...state, deployment: { ...state.deployment, resources } };
}

const commands = ["kubeconfig", "talosconfig"] as const;
/** The lines of a failure: none of them is of a stack trace. */
const errorOf = ({ code, stdout, stderr }: Ended): string => {
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).not.toMatch(/^\s+at /m);
  return stderr;
};

describe("the commands that write a cluster's credentials (U1)", () => {
  let name: string;
  beforeAll(() => {
    writeFileSync(join(bench.work, "passphrase"), recordedPassphrase, { mode: 0o600 });
    name = bench.addSettings("hetzner", recordedSettings("hetzner"));
  });

  test("refuse an environment that does not exist, and name those that do", async () => {
    const error = errorOf(await bench.npm("kubeconfig", "nowhere"));
    expect(error).toMatch(/nowhere/);
    expect(error).toMatch(/\bdev\b.*\bhome\b/s);
  });

  test.each(commands)("say how to create a cluster that was never created: %s", async (command) => {
    const error = errorOf(await bench.npm(command, name));
    expect(error).toContain(`cannot read the state of ${name}; 'npm run up -- ${name}' creates it`);
  });

  test.each(commands)("say that a stack without a cluster has none yet: %s", async (command) => {
    await bench.npm("pulumi", "config", "--stack", name); // any command that names the stack makes it
    const error = errorOf(await bench.npm(command, name));
    expect(error).toBe(`sluice: ${name} has no ${command} yet: 'npm run up -- ${name}' creates it.\n`);
    expect(existsSync(join(bench.work, `${name}.${command}`))).toBe(false);
  });

  test.each(commands)(
    "write a file that only its owner can read, also over one that others could, and print only where it is: %s",
    async (command) => {
      const state = join(bench.folder, "state.json");
      writeFileSync(state, JSON.stringify(withTalosconfig(recordedState("hetzner", name))));
      expect(await bench.npm("pulumi", "stack", "import", "--stack", name, "--file", state)).toMatchObject({ code: 0 });
      const file = join(bench.folder, `it's.${command}`);
      writeFileSync(file, "older", { mode: 0o644 });
      const written = await bench.npm(command, name, "--file", file);
      expect(written).toMatchObject({ code: 0, stderr: "" });
      const variable = command.toUpperCase();
      const quoted = file.replace("'", "'\\''");
      expect(written.stdout.split("\n").slice(0, 4)).toEqual([file, "", `  export ${variable}='${quoted}'`, ""]);
      expect(statSync(file).mode & 0o777).toBe(0o600);
      const text = readFileSync(file, "utf8");
      const secrets = [...text.matchAll(/(?:key|key-data|client-key-data|token): *(\S{20,})/g)].map(
        ([, key = ""]) => key,
      );
      expect(secrets.length).toBeGreaterThan(0);
      for (const secret of secrets) expect(written.stdout).not.toContain(secret);
      const content = parse(text);
      if (command === "kubeconfig") expect(content.clusters[0].cluster.server).toMatch(/^https:\/\/[\d.]+:6443$/);
      else expect(Object.values<{ endpoints: string[] }>(content.contexts)[0]?.endpoints).toHaveLength(1);
    },
  );

  test("name the passphrase if it is not that of the state", async () => {
    writeFileSync(join(bench.work, "passphrase"), "another", { mode: 0o600 });
    expect(errorOf(await bench.npm("talosconfig", name))).toMatch(/passphrase/);
  });
});
