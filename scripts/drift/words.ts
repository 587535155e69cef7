// Describes drift as text.
import { specialSigKey } from "@pulumi/pulumi/runtime/rpc.js";
import type { Failed, Outputs, Seen } from "./engineEvents.ts";

/** A difference from the state, or a resource that could not be checked. */
export interface Finding {
  /** "node w-1", "server dev-w-1", "gate CiliumReady". */
  readonly where: string;
  readonly what: string;
}

/** The most lines for one resource; the rest is counted. */
const most = 5;
/** The most characters of a value. */
const longest = 80;

/** Empty if the resource matches the state. */
export function driftOf(seen: Seen): readonly Finding[] {
  if (seen.op === "same") return [];
  const where = called(seen);
  const lines = linesOf(seen);
  const more = lines.length > most ? [`and ${lines.length - most} more`] : [];
  return [...lines.slice(0, most), ...more].map((what) => ({ where, what }));
}

/** What could not be checked has a warning, and what has drifted does not. Something that had drifted before may be unreadable this time. */
export function unseenOf(seen: Seen): readonly Finding[] {
  const drift = wordsOf(seen);
  if (seen.op !== "same" && drift.length === 0) return [];
  return seen.warnings
    .filter((warning) => !drift.some((line) => warning.includes(line)))
    .map((warning) => ({ where: called(seen), what: withoutNode(firstLine(warning), seen) }));
}

/** One line for all failed resources of a provider: usually they have one cause, which each describes differently. */
export function failures(failed: readonly Failed[]): readonly Finding[] {
  const providers = Map.groupBy(failed, ({ type }) => type.split(":")[0] ?? type);
  return [...providers.values()].map((all) => ({
    // The engine reports each failure again, and the provider has the reason.
    where: [...new Set(all.map((one) => called({ ...one, is: {}, was: {} })))].join(", "),
    what: withoutPlaces(firstLine(all[0]?.reason ?? "")),
  }));
}

/** The name that users know. */
function called({ type, name, is, was }: Pick<Seen, "type" | "name" | "is" | "was">): string {
  const kind = type.split(/[:/]/).at(-1) ?? type;
  if (type.startsWith("pulumi-nodejs:dynamic/gates:")) return `gate ${kind}`;
  if (kind === "TalosUpgrade") return "Talos";
  if (kind === "ClientCertificate") return String(is.file ?? was.file ?? name);
  const node = is.node ?? was.node;
  // The second is its name in a state that was not updated since. docs/decisions/provider-paths.md
  const isOfNode = kind === "AppliedMachineConfig" || kind === "NodeConfiguration";
  if (isOfNode && typeof node === "string") return `node ${node}`;
  const words = kind.replace(/Legacy$/, "").replace(/(?<=[a-z])(?=[A-Z])/g, " ");
  return `${words.toLowerCase()} ${name}`;
}

function linesOf(seen: Seen): readonly string[] {
  if (seen.op === "delete") {
    const [reason] = seen.warnings.map(firstLine);
    return [reason === undefined ? "is gone" : `is gone: ${withoutPlaces(reason)}`];
  }
  const drift = wordsOf(seen);
  if (drift.length > 0) return drift.map(firstLine);
  if (seen.warnings.length > 0) return seen.warnings.map((warning) => withoutNode(firstLine(warning), seen));
  return seen.differs.length === 0 ? ["differs"] : seen.differs.map((path) => difference(path, seen));
}

/** What our own resources report. */
function wordsOf({ is: { drift } }: Seen): readonly string[] {
  return Array.isArray(drift) ? drift.map(String) : [];
}

function difference(path: string, { was, is }: Seen): string {
  const [should, found] = [valueAt(was, path), valueAt(is, path)];
  if (isSecret(should) && isSecret(found)) return `${path} differs (secret value)`;
  if (should === undefined && found === undefined) return `${path} differs`;
  if (should === undefined) return `${path} is ${shown(found)}, and should not be there`;
  if (found === undefined) return `${path} is missing, and should be ${shown(should)}`;
  return `${path} is ${shown(found)}, and should be ${shown(should)}`;
}

/** A value by its path in the engine's notation: `rules[0].port`, `labels["a.b"]`. */
function valueAt(outputs: Outputs, path: string): unknown {
  const keys = [...path.matchAll(/\["((?:[^"\\]|\\.)*)"\]|\[(\d+)\]|([^.[\]]+)/g)].map(
    (match) => match[1] ?? match[2] ?? match[3] ?? "",
  );
  return keys.reduce<unknown>(
    (value, key) => (typeof value === "object" && value !== null ? (value as Outputs)[key] : undefined),
    outputs,
  );
}

function shown(value: unknown): string {
  if (isSecret(value)) return "(secret)";
  const text = JSON.stringify(value);
  const plain = typeof value === "string" ? value : text;
  return plain.length > longest ? `${plain.slice(0, longest)}...` : plain;
}

/** Whether the engine marks anything in it as special, which usually means a secret. */
function isSecret(value: unknown): boolean {
  return value !== undefined && JSON.stringify(value).includes(specialSigKey);
}

/** The name of a node's row is not just the node's name, so messages there begin with the node's name. */
function withoutNode(text: string, { is }: Seen): string {
  return typeof is.node === "string" && text.startsWith(`${is.node} `) ? text.slice(is.node.length + 1) : text;
}

/** Without the position in the plugin's code, and without the plugin's own marks. */
function withoutPlaces(text: string): string {
  return text
    .replace(/^\S+\.go:\d+: (?:[\w.]+: )?/, "")
    .replace(/^\[(?:WARNING|ERROR)\] /, "")
    .replace(/: provider=\S+$/, "");
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0] ?? "";
}
