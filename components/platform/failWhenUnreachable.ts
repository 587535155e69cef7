// If the Kubernetes provider does not reach the API, it leaves everything unchanged (`skipUpdateUnreachable`, without which no
// preview and no refresh would tolerate a cluster that is gone), and only warns.
import { isDeepStrictEqual } from "node:util";
import * as pulumi from "@pulumi/pulumi";
import { format } from "../errors/format.ts";
import { isMapping } from "../model/untyped.ts";

type Properties = Readonly<Record<string, unknown>>;

/**
 * For the options of a component in the cluster: an `up` fails if any resource of it is not what its inputs say. A key that
 * must be absent has to be `undefined` in the inputs; any other additional key was added by the API.
 */
export const changedOrFailed: pulumi.ResourceTransformation = ({ resource, type, props, opts }) => {
  if (!type.startsWith("kubernetes:") || pulumi.runtime.isDryRun()) return undefined;
  const ignored = new Set(["apiVersion", "kind", ...(opts.ignoreChanges ?? [])]);
  const asked = Object.fromEntries(
    Object.entries(props as Properties).filter(([key, value]) => value !== undefined && !ignored.has(key)),
  );
  const kind = type.split(":").at(-1) ?? type;
  // Its outputs exist once it is constructed.
  queueMicrotask(() => {
    const outputs = resource as unknown as Properties;
    const state = Object.fromEntries(stateKeys(kind, asked).map((key) => [key, outputs[key]]));
    pulumi.all([asked, state]).apply(([wanted, found]) => {
      const error = failureIfUnchanged(kind, wanted, found);
      if (error !== undefined) throw error;
    });
  });
  return undefined;
};

/** Names the properties that differ from the inputs, without their values. */
export function failureIfUnchanged(kind: string, asked: Properties, state: Properties): pulumi.RunError | undefined {
  const left = kind === "Release" ? ofRelease(asked, state) : ofObject(kind, asked, state);
  if (left.length === 0) return undefined;
  const where = `${kind} ${nameOf(asked, state)}`;
  const error = new pulumi.RunError(format({ code: "SLU-K201", where, seen: `not as requested: ${left.join(", ")}` }));
  // Pulumi prints the stack if an output rejects after the program's last line, even of a RunError.
  delete error.stack;
  return error;
}

function stateKeys(kind: string, asked: Properties): readonly string[] {
  return [...Object.keys(asked), ...(kind === "Secret" ? ["data"] : []), "metadata"];
}

/** These two determine the chart and how it is installed; the state cannot hold null. */
function ofRelease(asked: Properties, state: Properties): readonly string[] {
  const told = ({ version, values }: Properties): unknown =>
    JSON.parse(JSON.stringify({ version, values: values ?? {} }, (_, value) => value ?? undefined));
  return bothWays(told(asked), told(state));
}

/** For most objects the API returns more than it was given. A Secret has exactly what it was given, in another form. */
function ofObject(kind: string, { stringData, data, ...asked }: Properties, state: Properties): readonly string[] {
  if (kind !== "Secret") return differences({ ...asked, ...(data !== undefined && { data }) }, state);
  const isInCluster = state.data !== undefined;
  const secrets = bothWays(
    data ?? (isInCluster ? encoded(stringData) : stringData),
    state.data ?? state.stringData,
    "data",
  );
  return [...differences(asked, state), ...secrets];
}

function encoded(texts: unknown): Properties {
  const entries = Object.entries((texts ?? {}) as Readonly<Record<string, string>>);
  return Object.fromEntries(entries.map(([key, text]) => [key, Buffer.from(text).toString("base64")]));
}

function bothWays(asked: unknown, state: unknown, path = ""): readonly string[] {
  return [...new Set([...differences(asked, state, path), ...differences(state, asked, path)])];
}

/** Paths of the inputs that the state does not match. */
function differences(asked: unknown, state: unknown, path = ""): readonly string[] {
  if (!isMapping(asked)) return isDeepStrictEqual(asked ?? undefined, state ?? undefined) ? [] : [path];
  const found = isMapping(state) ? state : {};
  return Object.entries(asked).flatMap(([key, value]) => {
    const at = path === "" ? key : `${path}.${key}`;
    if (!Array.isArray(value)) return differences(value, found[key], at);
    const list = found[key];
    if (!Array.isArray(list) || list.length !== value.length) return [at];
    return value.flatMap((one, index) => differences(one, list[index], `${at}[${index}]`));
  });
}

function nameOf(...all: readonly Properties[]): string {
  const parts = all.map(({ metadata, name, namespace }) => (metadata ?? { name, namespace }) as Properties);
  const { name, namespace } = Object.assign({}, ...parts.toReversed());
  return namespace === undefined ? String(name) : `${namespace}/${name}`;
}
