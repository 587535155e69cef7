// Where the provider of what is in the cluster does not reach the API it leaves everything as it was (`skipUpdateUnreachable`, without which no
// preview and no refresh would bear a cluster that is gone), and says so in no more than a warning.
import { isDeepStrictEqual } from "node:util";
import * as pulumi from "@pulumi/pulumi";
import type { FailureCode } from "../errors/catalogue.ts";

type Properties = Readonly<Record<string, unknown>>;

const code: FailureCode = "SLU-K201";

/**
 * For the options of a component in the cluster: an `up` fails when a resource of it, of whatever kind, is not what it was asked to be. A key that
 * is to be absent has to be asked for as `undefined`; what else there is, the API has added.
 */
export const changedOrFailed: pulumi.ResourceTransformation = ({ resource, type, props, opts }) => {
  if (!type.startsWith("kubernetes:") || pulumi.runtime.isDryRun()) return undefined;
  const ignored = new Set(["apiVersion", "kind", ...(opts.ignoreChanges ?? [])]);
  const asked = Object.fromEntries(
    Object.entries(props as Properties).filter(([key, value]) => value !== undefined && !ignored.has(key)),
  );
  const kind = type.split(":").at(-1) ?? type;
  // Its outputs are there when it is constructed.
  queueMicrotask(() => {
    const outputs = resource as unknown as Properties;
    const state = Object.fromEntries(stateKeys(kind, asked).map((key) => [key, outputs[key]]));
    pulumi.all([asked, state]).apply(([wanted, found]) => {
      const error = leftAsItWas(kind, wanted, found);
      if (error !== undefined) throw error;
    });
  });
  return undefined;
};

/** Tells which of its properties are not as they were asked for, and no value. */
export function leftAsItWas(kind: string, asked: Properties, state: Properties): pulumi.RunError | undefined {
  const left = kind === "Release" ? ofRelease(asked, state) : ofObject(kind, asked, state);
  if (left.length === 0) return undefined;
  const error = new pulumi.RunError(
    `${code} ${kind} ${nameOf(asked, state)} is not what it should be (${left.join(", ")}): the Kubernetes API did not answer when it was to be changed. Run it again.`,
  );
  // Pulumi prints it where there is one when an output rejects after the program's last line, also of a RunError.
  delete error.stack;
  return error;
}

function stateKeys(kind: string, asked: Properties): readonly string[] {
  return [...Object.keys(asked), ...(kind === "Secret" ? ["data"] : []), "metadata"];
}

/** The chart and how it is installed come and go with these two; the state has no place for null. */
function ofRelease(asked: Properties, state: Properties): readonly string[] {
  const told = ({ version, values }: Properties): unknown =>
    JSON.parse(JSON.stringify({ version, values: values ?? {} }, (_, value) => value ?? undefined));
  return bothWays(told(asked), told(state));
}

/** Of most the API says more than it was told. A Secret has what it was given and no more, in another form. */
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

/** Paths of what is asked for and not so. */
function differences(asked: unknown, state: unknown, path = ""): readonly string[] {
  if (!isMap(asked)) return isDeepStrictEqual(asked ?? undefined, state ?? undefined) ? [] : [path];
  const found = isMap(state) ? state : {};
  return Object.entries(asked).flatMap(([key, value]) => {
    const at = path === "" ? key : `${path}.${key}`;
    if (!Array.isArray(value)) return differences(value, found[key], at);
    const list = found[key];
    if (!Array.isArray(list) || list.length !== value.length) return [at];
    return value.flatMap((one, index) => differences(one, list[index], `${at}[${index}]`));
  });
}

function isMap(value: unknown): value is Properties {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function nameOf(...all: readonly Properties[]): string {
  const parts = all.map(({ metadata, name, namespace }) => (metadata ?? { name, namespace }) as Properties);
  const { name, namespace } = Object.assign({}, ...parts.toReversed());
  return namespace === undefined ? String(name) : `${namespace}/${name}`;
}
