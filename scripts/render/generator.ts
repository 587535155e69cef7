// Calls the Talos plugin without the engine: its generator needs no state, no cluster and no network.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { credentials, type ServiceError } from "@grpc/grpc-js";
import provider from "@pulumi/pulumi/proto/provider_grpc_pb.js";
import messages from "@pulumi/pulumi/proto/provider_pb.js";
import struct from "google-protobuf/google/protobuf/struct_pb.js";
import type { MachineConfigurationArgs } from "../../components/talos/machineConfig.ts";
import { Failure } from "../workspace/fail.ts";
import { type Authority, placeholderSecrets, talosCertificate } from "./placeholderSecrets.ts";

const generatorFunction = "talos:machine/getConfiguration:getConfiguration";
const secretsUrn = "urn:pulumi:render::sluice::talos:machine/secrets:Secrets::render";

/** Marks a secret in the wire format of engine and plugins. */
const signatureKey = "4dabf18193072939515e22adb298388d";

export interface Generator {
  /** The config as the plugin makes it, with placeholders where the cluster's secrets would be. */
  generate(args: MachineConfigurationArgs): Promise<string>;
  stop(): void;
}

/** Starts the plugin. */
export async function startGenerator(program: string): Promise<Generator> {
  const plugin = spawn(program, ["127.0.0.1:0"], { stdio: ["ignore", "pipe", "inherit"] });
  const port = await listeningPort(plugin, program);
  const client = new provider.ResourceProviderClient(`127.0.0.1:${port}`, credentials.createInsecure());
  const stop = () => {
    client.close();
    plugin.kill();
  };
  try {
    const authority = await makeAuthority(client);
    const secrets = placeholderSecrets(authority);
    return {
      stop,
      async generate(args) {
        const text = await invokeGenerator(client, { ...args, machineSecrets: secrets });
        return text.replaceAll(authority.cert, talosCertificate);
      },
    };
  } catch (error) {
    stop();
    throw error;
  }
}

/** Has the plugin make secrets that belong to no cluster, and takes Talos' authority out of them. */
async function makeAuthority(client: provider.ResourceProviderClient): Promise<Authority> {
  const configure = new messages.ConfigureRequest();
  configure.setArgs(struct.Struct.fromJavaScript({}));
  configure.setAcceptsecrets(true);
  await answer((done) => client.configure(configure, done));

  const create = new messages.CreateRequest();
  create.setUrn(secretsUrn);
  create.setProperties(struct.Struct.fromJavaScript({}));
  const created = await answer<messages.CreateResponse>((done) => client.create(create, done));
  const made = withoutSecretMarks(created.getProperties()?.toJavaScript()) as {
    machineSecrets?: { certs?: { os?: Authority } };
  };
  const authority = made.machineSecrets?.certs?.os;
  if (authority === undefined) throw new Error("the plugin made no Talos authority");
  return authority;
}

async function invokeGenerator(client: provider.ResourceProviderClient, args: object): Promise<string> {
  const request = new messages.InvokeRequest();
  request.setTok(generatorFunction);
  request.setArgs(struct.Struct.fromJavaScript(args as Record<string, struct.JavaScriptValue>));
  const response = await answer<messages.InvokeResponse>((done) => client.invoke(request, done));
  const failures = response.getFailuresList().map((failure) => failure.getReason());
  if (failures.length > 0) throw new Failure(`the generator refuses the config: ${failures.join("; ")}`);
  const result = withoutSecretMarks(response.getReturn()?.toJavaScript()) as { machineConfiguration?: string };
  if (result.machineConfiguration === undefined) throw new Error("the generator gave no machine config");
  return result.machineConfiguration;
}

function answer<Response>(call: (done: (error: ServiceError | null, response: Response) => void) => unknown) {
  return new Promise<Response>((resolve, reject) => {
    call((error, response) => (error === null ? resolve(response) : reject(error)));
  });
}

function withoutSecretMarks(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSecretMarks);
  if (typeof value !== "object" || value === null) return value;
  if (signatureKey in value && "value" in value) return withoutSecretMarks(value.value);
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, withoutSecretMarks(member)]));
}

/** A plugin says on its first line which port it listens on. */
async function listeningPort(plugin: ChildProcess, program: string): Promise<string> {
  if (plugin.stdout === null) throw new Error("the plugin has no standard output");
  const lines = createInterface(plugin.stdout);
  const ended = once(plugin, "exit").then(([code]) => {
    throw new Failure(`${program} ended with ${code} before it listened`);
  });
  const [port] = await Promise.race([once(lines, "line"), ended]);
  ended.catch(() => undefined); // ends later, when it is stopped
  return String(port);
}
