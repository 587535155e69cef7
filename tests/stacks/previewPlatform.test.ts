import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, expect, test } from "@jest/globals";
import { askedVariable } from "../../stacks/askPlatform.ts";
import { parseClusterConfig } from "../../stacks/config/config.ts";
import { previewPlatform } from "../../stacks/previewPlatform.ts";
import { record } from "../support/mocks.ts";
import { rawConfig } from "../support/rawConfig.ts";

/** A cloud that accepts no token. */
let server: Server;
const calls: string[] = [];
beforeAll(async () => {
  server = createServer(({ method, url }, response) => {
    calls.push(`${method} ${url}`);
    response.writeHead(401).end('{"error":{"code":"unauthorized","message":"unable to authenticate"}}');
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const variables = ["HCLOUD_TOKEN", "HCLOUD_ENDPOINT", askedVariable];
const before = Object.fromEntries(variables.map((name) => [name, process.env[name]]));
afterEach(() => {
  calls.length = 0;
  for (const [name, value] of Object.entries(before)) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
});

async function preview(given: Readonly<Record<string, string>>): Promise<unknown> {
  for (const name of variables) delete process.env[name];
  const { port } = server.address() as AddressInfo;
  Object.assign(process.env, { HCLOUD_ENDPOINT: `http://127.0.0.1:${port}/v1` }, given);
  const config = parseClusterConfig(rawConfig("cloud"));
  const ask = () => previewPlatform(config, "mine").catch(({ message }: Error) => message);
  return (await record<unknown>(ask, { preview: true })).result;
}

test("S6.2 a preview by the Pulumi CLI alone asks the platform, and is refused in the same words", async () => {
  expect(await preview({ HCLOUD_TOKEN: "mine" })).toMatch(
    /^SLU-M123 The token is not sufficient: Pulumi\.mine\.yaml has 1 fault\n.*hcloud:token: the token is not accepted/,
  );
  expect(calls.length).toBeGreaterThan(0);
  expect(calls.filter((call) => !call.startsWith("GET "))).toEqual([]);
});

test.each([
  ["without a token", {}],
  ["after an npm command has asked", { HCLOUD_TOKEN: "mine", [askedVariable]: "true" }],
])("S6.2 a preview calls no platform %s", async (_, given) => {
  expect(await preview(given)).toBeUndefined();
  expect(calls).toEqual([]);
});
