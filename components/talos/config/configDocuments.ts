import { parseAllDocuments } from "yaml";
import { isMapping } from "../../model/untyped.ts";

/** One document of a machine config, by its kind: `v1alpha1` is the old document without a kind. */
export interface ConfigDocument {
  /** "v1alpha1", "HostnameConfig", "LinkConfig lo". Unique within a config. */
  readonly title: string;
  readonly body: ConfigValue;
}

export type ConfigValue =
  | string
  | number
  | boolean
  | null
  | readonly ConfigValue[]
  | { readonly [key: string]: ConfigValue };

export const mainDocument = "v1alpha1";

/** The documents of a machine config in order; undefined if the text is not YAML documents. */
export function configDocuments(config: string): readonly ConfigDocument[] | undefined {
  const parsed = [...parseAllDocuments(config, { uniqueKeys: false })];
  if (parsed.some(({ errors }) => errors.length > 0)) return undefined;
  const bodies = parsed.map((document) => document.toJS() as ConfigValue).filter((body) => body !== null);
  if (!bodies.every((body) => isMapping(body))) return undefined;
  const seen = new Map<string, number>();
  return bodies.map((body) => {
    const plain = body.kind === undefined ? mainDocument : [body.kind, body.name].filter(Boolean).join(" ");
    const before = seen.get(plain) ?? 0;
    seen.set(plain, before + 1);
    return { title: before === 0 ? plain : `${plain} #${before + 1}`, body };
  });
}

/** Places at which `false` means the same to Talos as no value. Sluice writes it, and others do not. */
const falseIfMissing = ["enabled", "forwardKubeDNSToHost", "resolveMemberNames"].map((key) => [
  "machine",
  "features",
  "hostDNS",
  key,
]);

/** The body of a document without values that mean the same as none. */
export function withoutImplied({ title, body }: ConfigDocument): ConfigValue {
  return title === mainDocument ? falseIfMissing.reduce(withoutFalse, body) : body;
}

function withoutFalse(value: ConfigValue, [key = "", ...rest]: readonly string[]): ConfigValue {
  if (!isMapping(value) || !Object.hasOwn(value, key)) return value;
  const { [key]: inner = null, ...others } = value as { readonly [key: string]: ConfigValue };
  if (rest.length > 0) return { ...value, [key]: withoutFalse(inner, rest) };
  return inner === false ? others : value;
}

/** The machine section of the document without a kind. */
export function machineSection(config: string): { readonly [key: string]: ConfigValue } | undefined {
  const main = configDocuments(config)?.find(({ title }) => title === mainDocument)?.body;
  return isMapping(main) && isMapping(main.machine) ? main.machine : undefined;
}

/**
 * A value as a node understands it: Talos omits nothing, an empty list and an empty map when it writes a config, so they mean the same
 * as a missing key.
 */
export function meaning(value: ConfigValue): ConfigValue {
  if (isList(value)) return value.map(meaning);
  if (!isMapping(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .map(([key, inner]) => [key, meaning(inner)] as const)
      .filter(([, inner]) => !isNothing(inner)),
  );
}

export function isList(value: ConfigValue | undefined): value is readonly ConfigValue[] {
  return Array.isArray(value);
}

export function isNothing(value: ConfigValue | undefined): boolean {
  if (value === undefined || value === null) return true;
  return isList(value) ? value.length === 0 : isMapping(value) && Object.keys(value).length === 0;
}
