// Calls the Talos plugin without the engine: its generator needs no state, no cluster and no network.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { credentials, Metadata, type ServiceError, status } from "@grpc/grpc-js";
import provider from "@pulumi/pulumi/proto/provider_grpc_pb.js";
import messages from "@pulumi/pulumi/proto/provider_pb.js";
import struct from "google-protobuf/google/protobuf/struct_pb.js";
import { withoutAnyMarks } from "../../components/engine/withoutMarks.ts";
import { record, text } from "../../components/model/untyped.ts";
import type { TalosCredentials } from "../../components/talos/client/talosClient.ts";
import type { MachineConfigurationArgs } from "../../components/talos/generate/machineConfig.ts";
import type { PluginSecrets } from "../../components/talos/secrets/secretsBundle.ts";
import { systemClock } from "../../components/waiting/clock.ts";
import { withDeadline } from "../../components/waiting/deadline.ts";
import { startBound } from "../base/children.ts";
import { Failure } from "../base/fail.ts";
import { type Authority, placeholderSecrets, talosCertificate } from "./placeholderSecrets.ts";

const generatorFunction = "talos:machine/getConfiguration:getConfiguration";
const secretsUrn = "urn:pulumi:render::sluice::talos:machine/secrets:Secrets::render";

export interface Generator {
  /** The config as the plugin generates it, with placeholders instead of machine secrets. */
  generate(args: MachineConfigurationArgs): Promise<string>;
  /** The same with these machine secrets. Secret. */
  generateWith(machineSecrets: PluginSecrets, args: MachineConfigurationArgs): Promise<string>;
  /** The client credentials that the plugin issues for machine secrets in a file, as Talos writes it. Secret. */
  credentialsFor(secretsFile: string): Promise<TalosCredentials>;
  stop(): void;
}

/** Milliseconds that the plugin may take to report its port, and for each answer: a hundred times what it needs. */
const ordinaryTimeoutMs = 30_000;

/** Starts the plugin, which ends together with this process at the latest. */
export async function startGenerator(program: string, timeoutMs = ordinaryTimeoutMs): Promise<Generator> {
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
    const port = await listeningPort(plugin, program, timeoutMs);
    const opened = new provider.ResourceProviderClient(`127.0.0.1:${port}`, credentials.createInsecure());
    client = opened;
    const ask: Ask = (call) => answer(program, timeoutMs, call);
    const authority = await makeAuthority(opened, ask);
    const secrets = placeholderSecrets(authority);
    return {
      stop,
      async generate(args) {
        const text = await invokeGenerator(opened, ask, { ...args, machineSecrets: secrets });
        return text.replaceAll(authority.cert, talosCertificate);
      },
      generateWith: (machineSecrets, args) => invokeGenerator(opened, ask, { ...args, machineSecrets }),
      credentialsFor: (file) => importSecrets(opened, ask, file),
    };
  } catch (error) {
    stop();
    throw error;
  }
}

/** Lets the plugin generate secrets that belong to no cluster, and returns Talos' CA from them. */
async function makeAuthority(client: Client, ask: Ask): Promise<Authority> {
  const configure = new messages.ConfigureRequest();
  configure.setArgs(struct.Struct.fromJavaScript({}));
  configure.setAcceptsecrets(true);
  await ask((...how) => client.configure(configure, ...how));

  const create = new messages.CreateRequest();
  create.setUrn(secretsUrn);
  create.setProperties(struct.Struct.fromJavaScript({}));
  const created = await ask<messages.CreateResponse>((...how) => client.create(create, ...how));
  const made = withoutAnyMarks(created.getProperties()?.toJavaScript()) as {
    machineSecrets?: { certs?: { os?: Authority } };
  };
  const authority = made.machineSecrets?.certs?.os;
  if (authority === undefined) throw new Error("the plugin generated no Talos authority");
  return authority;
}

/** As the engine imports them. */
async function importSecrets(client: Client, ask: Ask, file: string): Promise<TalosCredentials> {
  const read = new messages.ReadRequest();
  read.setId(file);
  read.setUrn(secretsUrn);
  const answer = await ask<messages.ReadResponse>((...how) => client.read(read, ...how));
  const { clientConfiguration } = record(withoutAnyMarks(answer.getProperties()?.toJavaScript()));
  const { caCertificate, clientCertificate, clientKey } = record(clientConfiguration);
  const [ca, crt, key] = [caCertificate, clientCertificate, clientKey].map(text);
  if (!ca || !crt || !key) throw new Error("the plugin issued no client certificate");
  return { ca, crt, key };
}

async function invokeGenerator(client: Client, ask: Ask, args: object): Promise<string> {
  const request = new messages.InvokeRequest();
  request.setTok(generatorFunction);
  request.setArgs(struct.Struct.fromJavaScript(args as Record<string, struct.JavaScriptValue>));
  const response = await ask<messages.InvokeResponse>((...how) => client.invoke(request, ...how));
  const failures = response.getFailuresList().map((failure) => failure.getReason());
  if (failures.length > 0) throw new Failure(`the generator rejects the config: ${failures.join("; ")}`);
  const result = withoutAnyMarks(response.getReturn()?.toJavaScript()) as { machineConfiguration?: string };
  if (result.machineConfiguration === undefined) throw new Error("the generator returned no machine config");
  return result.machineConfiguration;
}

type Client = provider.ResourceProviderClient;
type Done<Response> = (error: ServiceError | null, response: Response) => void;
type Call<Response> = (metadata: Metadata, options: { deadline: number }, done: Done<Response>) => unknown;
type Ask = <Response>(call: Call<Response>) => Promise<Response>;

function answer<Response>(program: string, timeoutMs: number, call: Call<Response>): Promise<Response> {
  return new Promise((resolve, reject) => {
    call(new Metadata(), { deadline: Date.now() + timeoutMs }, (error, response) => {
      if (error === null) resolve(response);
      else if (error.code === status.DEADLINE_EXCEEDED) reject(silent(program, timeoutMs));
      // Ctrl-C reaches the plugin and this process at the same time. If the plugin ends first, its failure is not reported.
      else setTimeout(() => reject(error), 20);
    });
  });
}

/** The code distinguishes this failure from the generator's faults in a config. */
function silent(program: string, timeoutMs: number): Failure {
  return Object.assign(new Failure(`${program} did not answer within ${timeoutMs / 1000} s`), {
    code: status.DEADLINE_EXCEEDED,
  });
}

/** A plugin prints its port on its first line. */
async function listeningPort(plugin: ChildProcess, program: string, timeoutMs: number): Promise<string> {
  if (plugin.stdout === null) throw new Error("the plugin has no standard output");
  const line = once(createInterface(plugin.stdout), "line").then(([port]) => String(port));
  const end = once(plugin, "close").then(([code]) => {
    throw new Failure(`${program} ended with ${code} before it listened`);
  });
  return withDeadline(systemClock, timeoutMs, Promise.race([line, end]), () => silent(program, timeoutMs));
}
