// `npm run snapshot`, as it is typed where the project's token is encrypted in the environment's file. Hetzner's API is on loopback, and Packer a script.
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, expect, jest, test } from "@jest/globals";
import { settings, Workbench } from "../support/cli.ts";

jest.setTimeout(180_000);

const bench = new Workbench({ fresh: false });
const asked: (string | undefined)[] = [];
const api = createServer((request, response) => {
  asked.push(request.headers.authorization);
  response.end(JSON.stringify({ images: [] }));
});
beforeAll(() => new Promise<void>((done) => api.listen(0, "127.0.0.1", done)));
afterAll(async () => {
  bench.remove();
  await new Promise((done) => api.close(done));
});

test("S0.1 the token in an environment's file is used for the project, and passed to Packer", async () => {
  const name = bench.addEnvironment("cloud");
  const token = "t".repeat(64);
  const set = ["config", "set", "--secret", "hcloud:token", "--stack", name];
  expect(await bench.npmWith({ input: token }, "pulumi", ...set)).toMatchObject({ code: 0 });
  expect(settings(name).config["hcloud:token"]).toEqual({ secure: expect.stringMatching(/^v1:/) });

  const [programs, seen] = [join(bench.folder, "programs"), join(bench.folder, "seen")];
  mkdirSync(programs);
  writeFileSync(join(programs, "packer"), `#!/bin/sh\necho "$1 $HCLOUD_TOKEN" >> ${seen}\n`);
  chmodSync(join(programs, "packer"), 0o755);
  const endpoint = `http://127.0.0.1:${(api.address() as AddressInfo).port}/v1`;
  const line = `HCLOUD_TOKEN=another HCLOUD_ENDPOINT=${endpoint} PATH=${programs}:$PATH npm run --silent snapshot -- ${name}`;
  expect(await bench.typed(line)).toMatchObject({ code: 0, stderr: "" });
  expect(asked).toEqual([`Bearer ${token}`]);
  expect(readFileSync(seen, "utf8")).toBe(`init ${token}\nbuild ${token}\n`);
  expect(bench.said.join("\n")).not.toContain(token);
});
