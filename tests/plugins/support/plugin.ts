// A plugin that the toolchain built, started as the engine starts it.
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { credentials, type ServiceError } from "@grpc/grpc-js";
import provider from "@pulumi/pulumi/proto/provider_grpc_pb.js";
import { ensureTools } from "../../../scripts/toolchain/ensure.ts";
import { programPath } from "../../../scripts/toolchain/entry.ts";
import { pluginNamed, toolNamed } from "../../../scripts/toolchain/tools.ts";

export type PluginClient = InstanceType<typeof provider.ResourceProviderClient>;

/** Uses a plugin, and ends it in any case. */
export async function withPlugin<T>(name: string, work: (client: PluginClient) => Promise<T>): Promise<T> {
  const tool = toolNamed(pluginNamed(name).tool);
  await ensureTools([tool]);
  const plugin = spawn(programPath(tool, `pulumi-resource-${name}`), ["127.0.0.1:0"], { stdio: "pipe" });
  // Much of its output does not matter, such as that there is no engine to log to; it is reported if the plugin fails.
  let said = "";
  plugin.stderr.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  try {
    // The schema of the Kubernetes plugin is larger than a client's default limit of 4 MB.
    const options = { "grpc.max_receive_message_length": -1 };
    const address = `127.0.0.1:${await listeningPort(plugin, name)}`;
    const client = new provider.ResourceProviderClient(address, credentials.createInsecure(), options);
    try {
      return await work(client);
    } finally {
      client.close();
    }
  } catch (error) {
    throw new Error(`the plugin ${name} failed, and said: ${said || "nothing"}`, { cause: error });
  } finally {
    plugin.kill();
  }
}

/** The answer to one call. */
export function answer<T>(call: (done: (error: ServiceError | null, response: T) => void) => unknown): Promise<T> {
  return new Promise((resolve, reject) => {
    call((error, response) => (error === null ? resolve(response) : reject(error)));
  });
}

/** A plugin prints its port on its first line. */
async function listeningPort(plugin: ChildProcessWithoutNullStreams, name: string): Promise<string> {
  const lines = createInterface(plugin.stdout);
  const ended = once(plugin, "exit").then(([code]) => {
    throw new Error(`the plugin ${name} ended with ${code} before it listened`);
  });
  const [port] = await Promise.race([once(lines, "line"), ended]);
  ended.catch(() => undefined); // ends later, when it is stopped
  return String(port);
}
