// What drifted, in people's words.
import type { Failed, Outputs, Seen } from "./engineEvents.ts";

/** One thing that is not as the state says, or that nobody could look at. */
export interface Finding {
  /** "node w-1", "server dev-w-1", "gate CiliumReady". */
  readonly where: string;
  readonly what: string;
}

/** Lines for one resource; the rest is counted. */
const most = 5;
/** Characters of a value. */
const longest = 80;
/** By this key the engine marks what is no plain value, most often a secret. */
const mark = "4dabf18193072939515e22adb298388d";

/** None where the resource is as it was left. */
export function driftOf(seen: Seen): readonly Finding[] {
  if (seen.op === "same") return [];
  const where = called(seen);
  const lines = linesOf(seen);
  const more = lines.length > most ? [`and ${lines.length - most} more`] : [];
  return [...lines.slice(0, most), ...more].map((what) => ({ where, what }));
}

/** What nobody could look at: it was warned of, and not for what drifted. What drifted before may not be seen this time. */
export function unseenOf(seen: Seen): readonly Finding[] {
  const drift = wordsOf(seen);
  if (seen.op !== "same" && drift.length === 0) return [];
  return seen.warnings
    .filter((warning) => !drift.some((line) => warning.includes(line)))
    .map((warning) => ({ where: called(seen), what: withoutNode(firstLine(warning), seen) }));
}

/** One for all resources of a provider that failed: most often they have one cause, and each says it in words of its own. */
export function failures(failed: readonly Failed[]): readonly Finding[] {
  const providers = Map.groupBy(failed, ({ type }) => type.split(":")[0] ?? type);
  return [...providers.values()].map((all) => ({
    // The engine says of each that it failed, and the provider why.
    where: [...new Set(all.map((one) => called({ ...one, is: {}, was: {} })))].join(", "),
    what: withoutPlaces(firstLine(all[0]?.why ?? "")),
  }));
}

/** What a person calls it. */
function called({ type, name, is, was }: Pick<Seen, "type" | "name" | "is" | "was">): string {
  const kind = type.split(/[:/]/).at(-1) ?? type;
  if (type.startsWith("pulumi-nodejs:dynamic/gates:")) return `gate ${kind}`;
  if (kind === "ClientCertificate") return String(is.file ?? was.file ?? name);
  const node = is.node ?? was.node;
  if (kind === "NodeConfiguration" && typeof node === "string") return `node ${node}`;
  const words = kind.replace(/Legacy$/, "").replace(/(?<=[a-z])(?=[A-Z])/g, " ");
  return `${words.toLowerCase()} ${name}`;
}

function linesOf(seen: Seen): readonly string[] {
  if (seen.op === "delete") {
    const [why] = seen.warnings.map(firstLine);
    return [why === undefined ? "is gone" : `is gone: ${withoutPlaces(why)}`];
  }
  const drift = wordsOf(seen);
  if (drift.length > 0) return drift.map(firstLine);
  if (seen.warnings.length > 0) return seen.warnings.map((warning) => withoutNode(firstLine(warning), seen));
  return seen.differs.length === 0 ? ["differs"] : seen.differs.map((path) => difference(path, seen));
}

/** What a resource of our own says itself of what it found. */
function wordsOf({ is: { drift } }: Seen): readonly string[] {
  return Array.isArray(drift) ? drift.map(String) : [];
}

function difference(path: string, { was, is }: Seen): string {
  const [should, found] = [valueAt(was, path), valueAt(is, path)];
  if (isSecret(should) && isSecret(found)) return `${path} is another one (secret)`;
  if (should === undefined && found === undefined) return `${path} differs`;
  if (should === undefined) return `${path} is ${shown(found)}, and should not be there`;
  if (found === undefined) return `${path} is not there, and should be ${shown(should)}`;
  return `${path} is ${shown(found)}, and should be ${shown(should)}`;
}

/** Of a path as the engine writes it: `rules[0].port`, `labels["a.b"]`. */
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

function isSecret(value: unknown): boolean {
  return value !== undefined && JSON.stringify(value).includes(mark);
}

/** A node's row in the engine's tree is not called by its name alone, so what is said there has the name in it. */
function withoutNode(text: string, { is }: Seen): string {
  return typeof is.node === "string" && text.startsWith(`${is.node} `) ? text.slice(is.node.length + 1) : text;
}

/** Where in a plugin's code it is said, and how the plugin marks it. */
function withoutPlaces(text: string): string {
  return text
    .replace(/^\S+\.go:\d+: (?:[\w.]+: )?/, "")
    .replace(/^\[(?:WARNING|ERROR)\] /, "")
    .replace(/: provider=\S+$/, "");
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0] ?? "";
}
