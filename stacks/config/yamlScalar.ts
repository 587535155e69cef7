import { Scalar } from "yaml";

/** Numbers in YAML 1.1, which the engine's parser follows here, that are text or another number in YAML 1.2. */
const olderNumber = /^[-+]?(0x[0-9a-f_]+|0o[0-7_]+|0b[01_]+|[0-9][0-9_]*_[0-9_]*(\.[0-9_]*)?(e[-+]?[0-9]+)?)$/i;

/** What the engine's parser reads as a timestamp, and passes on in another form. */
const moment = /^\d{4}-\d{1,2}-\d{1,2}([Tt ]+\d{1,2}:.*)?$/;

/** Why two readers of YAML may read this scalar differently; undefined if they agree. The value itself is not in the message: it may be a secret. */
export function ambiguity({ type, source = "", value }: Scalar): string | undefined {
  if (type !== Scalar.PLAIN) return undefined; // in quotes, or a block: always text
  if (moment.test(source)) return `a date is changed by some readers of YAML: ${quote}`;
  if (/^[-+]?0[0-9]+$/.test(source)) {
    return `a number that begins with 0 is octal for some readers of YAML and decimal for others: remove the 0, or ${quote}`;
  }
  if (olderNumber.test(source)) {
    return `a number with '_', or one that is not decimal, is text for some readers of YAML: write it in decimal digits alone, or ${quote}`;
  }
  if (typeof value === "number" && String(value) !== source) {
    return `the number is not written as YAML would write it, and would change: ${quote}, or write it in full`;
  }
  if (typeof value === "boolean" && !/^(true|false)$/i.test(source)) return `write true or false, or ${quote}`;
  return undefined;
}

const quote = "put it in quotes if it is text, such as a version";
