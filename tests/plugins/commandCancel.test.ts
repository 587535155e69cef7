// The engine calls Cancel on every plugin when a run is interrupted, and when a step of it failed. The command plugin is built with a library that
// is patched for it (scripts/toolchain/engineTools.ts).
import { once } from "node:events";
import { mkdtempSync, rmSync, watch } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, jest, test } from "@jest/globals";
import type info from "@pulumi/pulumi/proto/plugin_pb.js";
import messages from "@pulumi/pulumi/proto/provider_pb.js";
import empty from "google-protobuf/google/protobuf/empty_pb.js";
import struct from "google-protobuf/google/protobuf/struct_pb.js";
import { answer, type PluginClient, withPlugin } from "./support/plugin.ts";

jest.setTimeout(30 * 60_000); // the plugin is built now if it is not built yet

test("S0.1 the command plugin survives a Cancel after commands that have ended", async () => {
  const ends = await withPlugin("command", async (client) => {
    const before = [await run(client, "echo one"), await run(client, "echo two")];
    await cancel(client);
    return [...before, await pluginVersion(client)];
  });
  expect(ends).toEqual(["one", "two", "0.9.2"]);
});

test("S0.1 the command plugin ends a running command on Cancel", async () => {
  const folder = mkdtempSync(join(tmpdir(), "sluice-cancel-"));
  const watcher = watch(folder);
  try {
    await withPlugin("command", async (client) => {
      const begun = once(watcher, "change");
      const running = run(client, `: > '${folder}/started'; exec tail -f /dev/null`);
      const end = expect(running).rejects.toThrow("signal: killed");
      await begun;
      await cancel(client);
      await end;
    });
  } finally {
    watcher.close();
    rmSync(folder, { recursive: true });
  }
});

async function run(client: PluginClient, create: string): Promise<unknown> {
  const request = new messages.CreateRequest();
  request.setUrn("urn:pulumi:test::sluice::command:local:Command::one");
  request.setProperties(struct.Struct.fromJavaScript({ create }));
  const made = await answer<messages.CreateResponse>((done) => client.create(request, done));
  return made.getProperties()?.toJavaScript().stdout;
}

async function cancel(client: PluginClient): Promise<void> {
  await answer<empty.Empty>((done) => client.cancel(new empty.Empty(), done));
}

async function pluginVersion(client: PluginClient): Promise<string> {
  return (await answer<info.PluginInfo>((done) => client.getPluginInfo(new empty.Empty(), done))).getVersion();
}
