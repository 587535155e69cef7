// Calls the Talos plugin without the engine: its generator needs no state, no cluster and no network.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { credentials, Metadata, type ServiceError, status } from "@grpc/grpc-js";
import provider from "@pulumi/pulumi/proto/provider_grpc_pb.js";
import messages from "@pulumi/pulumi/proto/provider_pb.js";
import struct from "google-protobuf/google/protobuf/struct_pb.js";
import type { MachineConfigurationArgs } from "../../components/talos/machineConfig.ts";
import { startBound } from "../workspace/children.ts";
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

/** Milliseconds that the plugin may take to say where it listens, and for each answer: it takes less than one hundredth of that. */
const ordinaryPatience = 30_000;

/** Starts the plugin, which ends with this process at the latest. */
export async function startGenerator(program: string, patience = ordinaryPatience): Promise<Generator> {
  const { child: plugin, release } = startBound(() =>
    spawn(program, ["127.0.0.1:0"], { stdio: ["ignore", "pipe", "inherit"] }),
  );
  plugin.once("close", release);
  let client: Client | undefined;
  const stop = () => {
    client?.close();
    plugin.kill();
  };
  try {
    const port = await listeningPort(plugin, program, patience);
    const opened = new provider.ResourceProviderClient(`127.0.0.1:${port}`, credentials.createInsecure());
    client = opened;
    const ask: Ask = (call) => answer(program, patience, call);
    const authority = await makeAuthority(opened, ask);
    const secrets = placeholderSecrets(authority);
    return {
      stop,
      async generate(args) {
        const text = await invokeGenerator(opened, ask, { ...args, machineSecrets: secrets });
        return text.replaceAll(authority.cert, talosCertificate);
      },
    };
  } catch (error) {
    stop();
    throw error;
  }
}

/** Has the plugin make secrets that belong to no cluster, and takes Talos' authority out of them. */
async function makeAuthority(client: Client, ask: Ask): Promise<Authority> {
  const configure = new messages.ConfigureRequest();
  configure.setArgs(struct.Struct.fromJavaScript({}));
  configure.setAcceptsecrets(true);
  await ask((...how) => client.configure(configure, ...how));

  const create = new messages.CreateRequest();
  create.setUrn(secretsUrn);
  create.setProperties(struct.Struct.fromJavaScript({}));
  const created = await ask<messages.CreateResponse>((...how) => client.create(create, ...how));
  const made = withoutSecretMarks(created.getProperties()?.toJavaScript()) as {
    machineSecrets?: { certs?: { os?: Authority } };
  };
  const authority = made.machineSecrets?.certs?.os;
  if (authority === undefined) throw new Error("the plugin made no Talos authority");
  return authority;
}

async function invokeGenerator(client: Client, ask: Ask, args: object): Promise<string> {
  const request = new messages.InvokeRequest();
  request.setTok(generatorFunction);
  request.setArgs(struct.Struct.fromJavaScript(args as Record<string, struct.JavaScriptValue>));
  const response = await ask<messages.InvokeResponse>((...how) => client.invoke(request, ...how));
  const failures = response.getFailuresList().map((failure) => failure.getReason());
  if (failures.length > 0) throw new Failure(`the generator refuses the config: ${failures.join("; ")}`);
  const result = withoutSecretMarks(response.getReturn()?.toJavaScript()) as { machineConfiguration?: string };
  if (result.machineConfiguration === undefined) throw new Error("the generator gave no machine config");
  return result.machineConfiguration;
}

type Client = provider.ResourceProviderClient;
type Done<Response> = (error: ServiceError | null, response: Response) => void;
type Call<Response> = (metadata: Metadata, options: { deadline: number }, done: Done<Response>) => unknown;
type Ask = <Response>(call: Call<Response>) => Promise<Response>;

function answer<Response>(program: string, patience: number, call: Call<Response>): Promise<Response> {
  return new Promise((resolve, reject) => {
    call(new Metadata(), { deadline: Date.now() + patience }, (error, response) => {
      if (error === null) resolve(response);
      else if (error.code === status.DEADLINE_EXCEEDED) reject(silent(program, patience));
      // Ctrl-C reaches the plugin and this process together. Where the plugin ends first, its failure is not told.
      else setTimeout(() => reject(error), 20);
    });
  });
}

/** With the code that the caller tells it by from what the generator says of a config. */
function silent(program: string, patience: number): Failure {
  return Object.assign(new Failure(`${program} did not answer within ${patience / 1000} s`), {
    code: status.DEADLINE_EXCEEDED,
  });
}

function withoutSecretMarks(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSecretMarks);
  if (typeof value !== "object" || value === null) return value;
  if (signatureKey in value && "value" in value) return withoutSecretMarks(value.value);
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, withoutSecretMarks(member)]));
}

/** A plugin says on its first line which port it listens on. */
async function listeningPort(plugin: ChildProcess, program: string, patience: number): Promise<string> {
  if (plugin.stdout === null) throw new Error("the plugin has no standard output");
  const lines = createInterface(plugin.stdout);
  const ended = once(plugin, "close").then(([code]) => {
    throw new Failure(`${program} ended with ${code} before it listened`);
  });
  ended.catch(() => undefined); // ends later, when it is stopped
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, fail) => {
    timer = setTimeout(() => fail(silent(program, patience)), patience);
  });
  try {
    const [port] = await Promise.race([once(lines, "line"), ended, late]);
    return String(port);
  } finally {
    clearTimeout(timer);
  }
}
