// Reads YAML so that every reader of the file sees the same: the engine's, which is gopkg.in/yaml.v3 and follows YAML 1.1 where that is older, and this one,
// which follows YAML 1.2. What the two would read differently is refused, and so is what either cannot read.
import { readFileSync } from "node:fs";
import { isAbsolute, relative } from "node:path";
import {
  type Document,
  isAlias,
  isNode,
  isPair,
  isScalar,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
  visit,
  type YAMLError,
} from "yaml";
import { SettingsFileError } from "../base/settingsFileError.ts";
import { ambiguity } from "./yamlScalar.ts";

/** A fault at a place of a file. */
export interface YamlFault {
  /** The number of characters before it. */
  readonly offset: number;
  /** Quotes no value: it may be a secret. */
  readonly message: string;
}

export interface YamlFile {
  readonly document: Document;
  /** The error for faults that a reader of the document has found. */
  refusal(faults: readonly YamlFault[]): SettingsFileError;
}

/** Throws a `SettingsFileError` if the file is not YAML, or is ambiguous. `text` is read in place of its content. */
export function readYamlFile(path: string, text = decoded(path, readFileSync(path))): YamlFile {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { lineCounter, merge: true, prettyErrors: false });
  const refusal = (faults: readonly YamlFault[]) =>
    new SettingsFileError(
      faults
        .toSorted((one, other) => one.offset - other.offset)
        .map(({ offset, message }) => {
          const { line, col } = lineCounter.linePos(offset);
          return `${shownPath(path)}:${line}:${col}: ${message}`;
        })
        .join("\n"),
    );
  const [error] = document.errors; // those after it mostly follow from it
  const faults = error === undefined ? contentFaults(document) : [syntaxFault(error)];
  if (faults.length > 0) throw refusal(faults);
  return { document, refusal };
}

/** A path as it is shown in messages: as short as it can be typed. */
export function shownPath(path: string): string {
  const short = relative(process.cwd(), path);
  return short.startsWith("..") || isAbsolute(short) ? path : short;
}

function decoded(path: string, bytes: Buffer): string {
  const [first, second] = bytes;
  const isUtf16 = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff) || bytes.includes(0);
  try {
    if (!isUtf16) return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    // Refused below.
  }
  const encoding = isUtf16 ? "is UTF-16 or binary" : "is not UTF-8";
  throw new SettingsFileError(`${shownPath(path)}:1:1: the file ${encoding}: save it as UTF-8`);
}

/** Our own words for some of the parser's codes. */
const ownWords: Readonly<Record<string, string>> = {
  TAB_AS_INDENT: "a tab is not allowed as indentation: use spaces",
  DUPLICATE_KEY: "the map has this key already: keep one of the two",
  MULTIPLE_DOCS: "a second document begins here, and only the first would be read: remove the '---' or what follows it",
};

/** Without quotations: they repeat the text of the file. */
function syntaxFault({ code, pos, message }: YAMLError): YamlFault {
  return { offset: pos[0], message: ownWords[code] ?? message.replace(/:? ".*$/s, "") };
}

function contentFaults(document: Document): YamlFault[] {
  const faults: YamlFault[] = [];
  visit(document, (key, node, path) => {
    const place = isPair(node) ? node.key : node;
    const message = isPair(node) ? keyFault(node) : isNode(node) ? nodeFault(document, key, node, path) : undefined;
    if (message !== undefined) faults.push({ offset: offsetOf(place), message });
  });
  if (faults.length === 0 && hasTooManyAliases(document)) {
    faults.push({ offset: 0, message: "the file has too many aliases: write the values out" });
  }
  return faults;
}

function nodeFault(document: Document, key: unknown, node: Node, path: readonly unknown[]): string | undefined {
  if (isAlias(node)) {
    const target = node.resolve(document);
    if (target === undefined) {
      return "the alias has no anchor before it: put the value in quotes if the '*' is a part of it";
    }
    return path.includes(target) ? "the alias is inside of what it repeats" : undefined;
  }
  if (node.tag !== undefined && !plainTags.test(node.tag)) {
    return "the tag is not known: remove it, or put the value in quotes if the '!' is a part of it";
  }
  return isScalar(node) && key !== "key" ? ambiguity(node) : undefined;
}

const plainTags = /^tag:yaml\.org,2002:(str|int|float|bool|null|map|seq)$/;

function keyFault({ key }: Pair): string | undefined {
  if (isAlias(key)) return undefined;
  if (!isScalar(key)) return "a key must be text";
  if (typeof key.value === "string" || typeof key.value === "symbol") return undefined; // a merge key, `<<`, is a symbol
  return key.value === null ? "the key is missing before the ':'" : "a key must be text: put it in quotes";
}

function hasTooManyAliases(document: Document): boolean {
  try {
    document.toJS();
    return false;
  } catch {
    return true;
  }
}

/** Where a node starts; for a missing key, where the file starts. */
export function offsetOf(node: unknown): number {
  return (node as Partial<Node> | null)?.range?.[0] ?? 0;
}
