// Records what a program asks of the engine: every resource with its options, every invoke, what components put out.
import type * as pulumi from "@pulumi/pulumi";
import type { RegisterResourceRequest } from "@pulumi/pulumi/proto/resource_pb.js";
import { specialSecretSig, specialSigKey } from "@pulumi/pulumi/runtime/rpc.js";
import { observeRegistrations, titleOf } from "../../scripts/graph/registrations.ts";

export interface RecordedResource {
  readonly type: string;
  readonly name: string;
  /** `type name` of its parent. */
  readonly parent: string | undefined;
  readonly inputs: unknown;
  readonly protect: boolean;
  readonly ignoreChanges: readonly string[];
  readonly deleteBeforeReplace: boolean;
  readonly additionalSecretOutputs: readonly string[];
  readonly dependencies: readonly string[];
}

export interface Recording<T> {
  readonly result: T;
  /** Sorted by type and name, because the engine gets them in any order. */
  readonly resources: readonly RecordedResource[];
  readonly invokes: readonly { readonly token: string; readonly args: Record<string, unknown> }[];
  /** `type name` of what a deletion leaves in place. */
  readonly retained: readonly string[];
  /** What disappears without being deleted when something else is deleted: both as `type name`. */
  readonly deletedWith: Readonly<Record<string, string>>;
  /** The ids by which resources are imported, by `type name`. */
  readonly imported: Readonly<Record<string, string>>;
  /** What components registered, by `type name`. A secret is `{ secret: value }`. */
  readonly outputs: Readonly<Record<string, unknown>>;
}

export interface MockOptions {
  /** Records a preview: what is missing in `state` is unknown. */
  readonly preview?: boolean;
  /** The outputs of a provider's resource; by default its inputs. */
  readonly state?: (resource: pulumi.runtime.MockResourceArgs) => Record<string, unknown>;
  readonly invoke?: (call: pulumi.runtime.MockCallArgs) => Record<string, unknown>;
}

/** Runs a program to the end, including everything that follows in outputs. */
export async function record<T>(program: () => T | Promise<T>, options: MockOptions = {}): Promise<Recording<T>> {
  const { preview = false, state = ({ inputs }) => inputs, invoke = () => ({}) } = options;
  const resources: RecordedResource[] = [];
  const invokes: { token: string; args: Record<string, unknown> }[] = [];
  const outputs: Record<string, unknown> = {};
  const retained: string[] = [];
  const deletedWith: Record<string, string> = {};
  const imported: Record<string, string> = {};

  const mocks: pulumi.runtime.Mocks = {
    newResource: (resource) => ({
      id: resource.custom === false || preview ? undefined : `${resource.name}-id`,
      state: resource.custom === false ? {} : state(resource),
    }),
    call: (call) => {
      invokes.push({ token: call.token, args: call.inputs });
      return invoke(call);
    },
  };
  const run = { stack: "test", isPreview: preview, mocks };
  const result = await observeRegistrations(program, run, {
    onResource(request) {
      const resource = readResource(request);
      resources.push(resource);
      if (request.getRetainondelete()) retained.push(title(resource));
      if (request.getImportid() !== "") imported[title(resource)] = request.getImportid();
      if (request.getDeletedwith() !== "") deletedWith[title(resource)] = titleOf(request.getDeletedwith());
    },
    onOutputs(request) {
      outputs[titleOf(request.getUrn())] = withMarks(request.getOutputs()?.toJavaScript());
    },
  });
  return {
    result,
    resources: sorted(resources, title),
    invokes: sorted(invokes, JSON.stringify),
    retained: retained.sort(),
    deletedWith,
    imported,
    outputs,
  };
}

export function title({ type, name }: { readonly type: string; readonly name: string }): string {
  return `${type} ${name}`;
}

/** A value of an output and whether it is secret; `known` is false in a preview that does not know it yet. */
export async function unwrap<T>(
  output: pulumi.Output<T>,
): Promise<{ known: boolean; secret: boolean; value: T | undefined }> {
  const inner = output as unknown as { promise(): Promise<T>; isKnown: Promise<boolean>; isSecret: Promise<boolean> };
  const [known, secret] = await Promise.all([inner.isKnown, inner.isSecret]);
  return { known, secret, value: known ? await inner.promise() : undefined };
}

function readResource(request: RegisterResourceRequest): RecordedResource {
  return {
    type: request.getType(),
    name: request.getName(),
    parent: request.getParent() === "" ? undefined : titleOf(request.getParent()),
    inputs: withMarks(request.getObject()?.toJavaScript()),
    protect: request.getProtect() ?? false,
    ignoreChanges: request.getIgnorechangesList(),
    deleteBeforeReplace: request.getDeletebeforereplace(),
    additionalSecretOutputs: request.getAdditionalsecretoutputsList(),
    dependencies: request.getDependenciesList().map(titleOf).sort(),
  };
}

/** The wire's mark of a secret in a form that a test can read. */
function withMarks(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withMarks);
  if (typeof value !== "object" || value === null) return value;
  const members = value as Record<string, unknown>;
  if (members[specialSigKey] === specialSecretSig) return { secret: withMarks(members.value) };
  return Object.fromEntries(Object.entries(members).map(([key, member]) => [key, withMarks(member)]));
}

function sorted<T>(items: readonly T[], by: (item: T) => string): T[] {
  return [...items].sort((a, b) => (by(a) < by(b) ? -1 : 1));
}
