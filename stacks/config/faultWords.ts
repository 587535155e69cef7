// The words for a value that the schema does not accept. They follow the path: "nodes[0].name: must be …, got …".
import type { z } from "zod";
import { didYouMean } from "../../components/model/suggest.ts";
import { accepts, settingAt } from "../schema/schemaWalk.ts";

/** What is expected, if the schema has no message of its own. */
export function mustBe(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case "invalid_type":
      return `must be ${typeWords[issue.expected] ?? issue.expected}`;
    case "invalid_value":
      return `must be ${anyOf.format(issue.values.map((value) => `'${String(value)}'`))}`;
    case "too_small":
      return issue.origin === "string" || issue.origin === "array"
        ? "must not be empty"
        : `must be ${issue.minimum} or more`;
    case "too_big":
      return `must be ${issue.maximum} or less`;
    default:
      return undefined;
  }
}

const anyOf = new Intl.ListFormat("en-GB", { type: "disjunction" });

const typeWords: Record<string, string> = {
  string: "text",
  boolean: "true or false",
  number: "a number",
  int: "a whole number",
  array: "a list",
  object: "a map",
  record: "a map",
};

/** The same with the unit and an example, if the schema has them and the message does not. */
export function expectation(issue: z.core.$ZodIssue, path: readonly PropertyKey[]): string {
  const { unit, example, unset } = settingAt(path);
  const needsUnit = unit !== undefined && !issue.message.includes(unit.replace(/s$/, ""));
  const words = needsUnit ? withUnit(issue.message, unit) : issue.message;
  const sample = exampleText(example) ?? exampleText(unset);
  const isComplete =
    !words.startsWith("must be") || /such as|of the form|at most/.test(words) || issue.code === "invalid_value";
  return isComplete || sample === undefined ? words : `${words}, such as ${sample}`;
}

function withUnit(message: string, unit: string): string {
  return /number$/.test(message)
    ? `${message} of ${unit}`
    : message.replace(/(\d+) or (more|less)/, `$1 ${unit} or $2`);
}

/** A number or a text; not a value that may mean nothing. */
function exampleText(value: unknown): string | undefined {
  if (typeof value === "number") return String(value);
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** What was probably meant. */
export function hintFor(issue: z.core.$ZodIssue, path: readonly PropertyKey[]): string {
  const { input } = issue;
  if (issue.code === "invalid_value" && typeof input === "string") return didYouMean(input, issue.values.map(String));
  if (issue.code !== "invalid_type") return "";
  if (typeof input === "string") return hintForText(input, issue.expected, settingAt(path).unit);
  const isPlain = typeof input === "number" || typeof input === "boolean";
  if (issue.expected === "string" && isPlain && accepts(path, String(input))) return `: put it in quotes, "${input}"`;
  if (issue.expected === "array" && isPlain) return ": begin each entry with '-', or write [...]";
  return "";
}

function hintForText(input: string, expected: string, unit: string | undefined): string {
  if (expected === "number" || expected === "int") {
    if (/^-?\d+(\.\d+)?$/.test(input)) return `: it is text because of its quotes, write ${input}`;
    return unit !== undefined && /^\d/.test(input) ? `: write the number alone, the unit is ${unit}` : "";
  }
  if (expected === "boolean") {
    const isOn = /^(true|yes|on|y|1)$/i.test(input);
    return isOn || /^(false|no|off|n|0)$/i.test(input) ? `: write ${isOn}, without quotes` : "";
  }
  return expected === "array" ? ": begin each entry with '-', or write [...]" : "";
}

export function shown(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : "a list";
  if (value === null) return "nothing";
  if (typeof value === "object") return Object.keys(value).length === 0 ? "an empty map" : "a map";
  // A URL may contain a user name and a password, or a token.
  const text = JSON.stringify(value).replace(/:\/\/[^/@\s]*@/g, "://***@");
  return text.length > 80 ? `${text.slice(0, 77)}..."` : text;
}
