// A plugin's own description of what it offers, asked of the plugin that the toolchain built.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { credentials, type ServiceError } from "@grpc/grpc-js";
import provider from "@pulumi/pulumi/proto/provider_grpc_pb.js";
import messages from "@pulumi/pulumi/proto/provider_pb.js";
import { ensureTools } from "../../../scripts/toolchain/ensure.ts";
import { programPath } from "../../../scripts/toolchain/entry.ts";
import { pluginNamed, toolNamed } from "../../../scripts/toolchain/tools.ts";

/** Of Pulumi's package schema what is compared. https://www.pulumi.com/docs/iac/packages-and-automation/pulumi-packages/schema/ */
export interface PluginSchema {
  readonly name: string;
  readonly language?: { readonly nodejs?: { readonly compatibility?: string } };
  readonly types?: Readonly<Record<string, ObjectSchema | EnumSchema>>;
  readonly provider: ResourceSchema;
  readonly resources: Readonly<Record<string, ResourceSchema>>;
  readonly functions?: Readonly<Record<string, FunctionSchema>>;
}

export interface ObjectSchema {
  readonly type?: "object";
  readonly properties?: Readonly<Record<string, TypeSchema>>;
  readonly required?: readonly string[];
  /** Where an object type is demanded more or less of one side than `required` says. */
  readonly language?: {
    readonly nodejs?: { readonly requiredInputs?: readonly string[]; readonly requiredOutputs?: readonly string[] };
  };
}

export interface EnumSchema {
  readonly type: string;
  readonly enum: readonly unknown[];
}

export interface ResourceSchema extends ObjectSchema {
  readonly inputProperties?: Readonly<Record<string, TypeSchema>>;
  readonly requiredInputs?: readonly string[];
  /** It is written anew in every language and not generated. */
  readonly isOverlay?: boolean;
}

export interface FunctionSchema {
  readonly inputs?: ObjectSchema;
  readonly outputs?: ObjectSchema;
}

export interface TypeSchema {
  readonly type?: string;
  readonly $ref?: string;
  readonly items?: TypeSchema;
  readonly additionalProperties?: TypeSchema;
  readonly oneOf?: readonly TypeSchema[];
  readonly const?: unknown;
}

/** The schema of the plugin of that name. */
export async function pluginSchema(name: string): Promise<PluginSchema> {
  const tool = toolNamed(pluginNamed(name).tool);
  await ensureTools([tool]);
  const plugin = spawn(programPath(tool, `pulumi-resource-${name}`), ["127.0.0.1:0"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    return JSON.parse(await askSchema(`127.0.0.1:${await listeningPort(plugin, name)}`));
  } finally {
    plugin.kill();
  }
}

async function askSchema(address: string): Promise<string> {
  // The schema of the Kubernetes plugin is larger than the 4 MB that a client takes by itself.
  const options = { "grpc.max_receive_message_length": -1 };
  const client = new provider.ResourceProviderClient(address, credentials.createInsecure(), options);
  try {
    return await new Promise<string>((resolve, reject) => {
      const answered = (error: ServiceError | null, response: messages.GetSchemaResponse) =>
        error === null ? resolve(response.getSchema()) : reject(error);
      client.getSchema(new messages.GetSchemaRequest(), answered);
    });
  } finally {
    client.close();
  }
}

/** A plugin says on its first line which port it listens on. */
async function listeningPort(plugin: ChildProcess, name: string): Promise<string> {
  if (plugin.stdout === null) throw new Error("the plugin has no standard output");
  const lines = createInterface(plugin.stdout);
  const ended = once(plugin, "exit").then(([code]) => {
    throw new Error(`the plugin ${name} ended with ${code} before it listened`);
  });
  const [port] = await Promise.race([once(lines, "line"), ended]);
  ended.catch(() => undefined); // ends later, when it is stopped
  return String(port);
}
