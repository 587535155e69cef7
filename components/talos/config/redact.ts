import { isMap, isScalar, isSeq, type Node, parseAllDocuments, type Scalar, visit } from "yaml";

/** Replaces a secret. */
export const mask = "<redacted>";

/** Fields that hold a secret in any place, in current and future documents. */
const secretNames =
  /(token|secret|password|passphrase|credentials|(private|preshared|secret|access|api|auth)[-_]?key)$/i;

/** Fields with the user's own text, which may hold anything: files, manifests, environments, request headers. */
const openFields = new Set(["content", "contents", "env", "environment", "variables", "extraManifestHeaders"]);

/** Parents whose `key` is a private key; elsewhere, as in a taint, a key is just a name. */
const keyOwners = /(ca|serviceAccount|clientIdentity)$/i;

interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/**
 * A machine config with every secret masked, for output. At least what Talos itself masks (`RedactSecrets` in its machinery), and
 * more by name. Everything else stays unchanged, including comments and order. What cannot be read with certainty is not shown at all.
 */
export function redact(config: string): string {
  const documents = [...parseAllDocuments(config, { uniqueKeys: false })];
  const contents = documents.map((document) => document.contents);
  if (documents.some(({ errors }) => errors.length > 0) || !contents.every(isReadable)) {
    return `${mask}\n`;
  }
  const edits = contents.flatMap((node) => editsOf(node, "", config)).sort((a, b) => b.start - a.start);
  return edits.reduce((text, { start, end, text: hidden }) => text.slice(0, start) + hidden + text.slice(end), config);
}

/** Talos writes no anchors; following them could show in one place what is masked in another. */
function isReadable(node: Node | null): boolean {
  if (node === null) {
    return true;
  }
  let hasAlias = false;
  visit(node, {
    Alias: () => {
      hasAlias = true;
      return visit.BREAK;
    },
  });
  return isMap(node) && !hasAlias;
}

function editsOf(node: unknown, name: string, source: string, hide?: (text: string) => string): readonly Edit[] {
  if (isMap(node)) {
    return node.items.flatMap(({ key, value }) => {
      const field = isScalar(key) ? String(key.value) : "";
      return editsOf(value, field, source, hide ?? hider(name, field, value));
    });
  }
  if (isSeq(node)) {
    return node.items.flatMap((item) => editsOf(item, name, source, hide));
  }
  return isScalar(node) ? edit(node, source, hide ?? hideWithin) : [];
}

function hider(parent: string, field: string, value: unknown): ((text: string) => string) | undefined {
  if (field === "environment") {
    return hideVariable;
  }
  const isSecret =
    secretNames.test(field) ||
    openFields.has(field) ||
    (field === "key" && keyOwners.test(parent)) ||
    (field === "auth" && isScalar(value));
  return isSecret ? () => mask : undefined;
}

function edit(node: Scalar, source: string, hide: (text: string) => string): readonly Edit[] {
  const { value, range } = node;
  if (value === null || value === "" || typeof value === "boolean" || !range) {
    return [];
  }
  const text = String(value);
  const hidden = hide(text);
  if (hidden === text) {
    return [];
  }
  const [start, end] = range;
  // A block of lines includes its line end.
  const lineEnd = source.slice(start, end).endsWith("\n") ? "\n" : "";
  return [{ start, end, text: (hidden === mask ? mask : JSON.stringify(hidden)) + lineEnd }];
}

/** `NAME=value` keeps its name; base64 that ends in `=` has no name. */
function hideVariable(text: string): string {
  const [, name] = /^([A-Za-z_]\w*=)[^=]/.exec(text) ?? [];
  return name === undefined ? mask : name + mask;
}

/** Secrets inside values that are not secret by name: private keys, and the user and the tokens of a URL, as in a kernel argument. */
function hideWithin(text: string): string {
  if (isPrivateKey(text) || isPrivateKey(Buffer.from(text, "base64").toString())) {
    return mask;
  }
  return text
    .replace(/(:\/\/)[^/?#@\s]+@/g, `$1${mask}@`)
    .replace(/([?&][^=&\s]*(?:token|secret|password|key|auth)[^=&\s]*=)[^&#\s]+/gi, `$1${mask}`);
}

function isPrivateKey(text: string): boolean {
  return /-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----/.test(text);
}
