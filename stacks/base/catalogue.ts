// Names that others define, such as server types. A list of them is never complete: a name that is not in it may be newer, and causes only a warning; a name
// that cannot be of that kind, or is nearly a known one, is a fault.
import { didYouMean, misspelt } from "../../components/model/suggest.ts";

export interface Catalogue {
  /** "a server type". */
  readonly kind: string;
  readonly known: readonly string[];
  /** The pattern of such names. */
  readonly form: RegExp;
  /** Other names for the same, in lower case. */
  readonly aliases?: Readonly<Record<string, string>>;
  /** Whether a name that differs in one or two letters from a known one is refused. Not for names that differ only in a digit anyway. */
  readonly refusesNear: boolean;
}

/** Why it cannot be a name of this kind; undefined if it is one, or may be. */
export function catalogueFault({ kind, known, form, aliases = {}, refusesNear }: Catalogue, name: string) {
  if (known.includes(name)) return undefined;
  const plain = name.trim().toLowerCase();
  const alias = known.find((one) => one.toLowerCase() === plain) ?? aliases[plain];
  const near = refusesNear ? misspelt(plain, known) : undefined;
  if (alias !== undefined || near !== undefined) return `'${name}' is not ${kind} - did you mean '${alias ?? near}'?`;
  return form.test(name) ? undefined : `'${name}' is not ${kind}${didYouMean(plain, known) || `, such as ${known[0]}`}`;
}

/** A warning about a name that may be newer than the list. */
export function catalogueWarning(catalogue: Catalogue, name: string): string | undefined {
  const { kind, known } = catalogue;
  if (known.includes(name) || catalogueFault(catalogue, name) !== undefined) return undefined;
  return `'${name}' is not known to Sluice as ${kind}, so it was not checked${didYouMean(name, known)}`;
}
