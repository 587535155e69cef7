// Runs a program without an engine, and passes on what it requests from one.
import * as pulumi from "@pulumi/pulumi";
import type { RegisterResourceOutputsRequest, RegisterResourceRequest } from "@pulumi/pulumi/proto/resource_pb.js";
import * as settings from "@pulumi/pulumi/runtime/settings.js";

export interface Observer {
  readonly onResource: (request: RegisterResourceRequest) => void;
  readonly onOutputs?: (request: RegisterResourceOutputsRequest) => void;
}

export interface MockedRun {
  readonly stack: string;
  readonly isPreview: boolean;
  readonly mocks: pulumi.runtime.Mocks;
}

/** Runs a program to the end, including everything that follows in outputs. */
export async function observeRegistrations<T>(
  program: () => T | Promise<T>,
  { stack, isPreview, mocks }: MockedRun,
  { onResource, onOutputs = () => undefined }: Observer,
): Promise<T> {
  await pulumi.runtime.setMocks(mocks, "sluice", stack, isPreview);
  const monitor = settings.getMonitor() as unknown as Monitor;
  const { registerResource, registerResourceOutputs } = monitor;
  monitor.registerResource = (request, done) => {
    onResource(request);
    registerResource.call(monitor, request, done);
  };
  monitor.registerResourceOutputs = (request, done) => {
    onOutputs(request);
    registerResourceOutputs.call(monitor, request, done);
  };
  const result = await program();
  await waitForRPCs();
  return result;
}

/** `type name` of a URN. */
export function titleOf(urn: string): string {
  const [, , types = "", name = ""] = urn.replace(/^urn:pulumi:/, "").split("::");
  return `${types.split("$").at(-1)} ${name}`;
}

/** Not in the SDK's types: the promise that the SDK itself waits for at the end of a program. */
const { waitForRPCs } = settings as typeof settings & { waitForRPCs(): Promise<void> };

/** The part of the SDK's MockMonitor that is observed: what it passes to mocks has no options. */
interface Monitor {
  registerResource(request: RegisterResourceRequest, done: unknown): void;
  registerResourceOutputs(request: RegisterResourceOutputsRequest, done: unknown): void;
}
