import { catalogue, type FailureCode } from "./catalogue.ts";
import type { ErrorDetails, Finding } from "./sluiceError.ts";

/** The most nodes or objects that are named for one expectation. */
const mostNamed = 20;
const labelWidth = "what to do: ".length;

/** A failure as text: the code and its title, then one line for each known detail. */
export function format(details: ErrorDetails): string {
  const { code, subject, others } = details;
  const findings = [details, ...(others ?? [])];
  const titles = [...(code === undefined ? [] : [`${code} ${catalogue[code].title}`]), ...(subject ? [subject] : [])];
  return [
    titles.join(": "),
    ...(others === undefined ? facts(details) : lists(findings)),
    ...line("log", logs(findings)),
    ...line("cause", causes(findings)),
    ...line("what to do", remedies(findings)),
  ].join("\n");
}

function facts({ where, what, seen, forSeconds }: Finding): readonly string[] {
  return [
    ...line("where", where),
    ...line("expected", what),
    ...line("seen", seen),
    ...line("for", duration(forSeconds)),
  ];
}

/** For each expectation the nodes or objects that do not meet it, one line each. */
function lists(findings: readonly Finding[]): readonly string[] {
  return [...Map.groupBy(findings, ({ what }) => what)].flatMap(([what, all]) => {
    const seen = all.slice(0, mostNamed).map(oneLine);
    const more = all.length > seen.length ? [`and ${all.length - seen.length} more`] : [];
    return [...line("expected", what), ...line("seen", [...seen, ...more].join("\n"))];
  });
}

function oneLine({ where, seen, forSeconds }: Finding): string {
  const since = duration(forSeconds);
  return `${where === undefined ? "" : `${where}: `}${seen ?? ""}${since === undefined ? "" : ` (for ${since})`}`;
}

function logs(findings: readonly Finding[]): string | undefined {
  const all = findings.flatMap(({ log }) => log ?? []);
  return all.length === 0 ? undefined : all.join("\n");
}

/** With several codes, each says which it is about. */
function causes(findings: readonly Finding[]): string | undefined {
  const codes = [...new Set(findings.flatMap(({ code }) => (code === undefined ? [] : [code])))];
  const named = (code: FailureCode) => `${codes.length > 1 ? `${code}: ` : ""}${catalogue[code].cause}`;
  return codes.length === 0 ? undefined : codes.map(named).join("\n");
}

function remedies(findings: readonly Finding[]): string | undefined {
  const all = findings.flatMap(({ remedy, code }) => remedy ?? (code === undefined ? [] : catalogue[code].remedy));
  return all.length === 0 ? undefined : [...new Set(all)].join("\n");
}

/** Quoted text may have several lines; they are indented alike. */
function line(label: string, text: string | undefined): readonly string[] {
  if (text === undefined) return [];
  const [first = "", ...rest] = text
    .trimEnd()
    .split(/\r?\n/)
    .map((one) => one.replace(/^\t+/, (tabs) => "  ".repeat(tabs.length)));
  const indent = " ".repeat(2 + labelWidth);
  return [`  ${`${label}:`.padEnd(labelWidth)}${first}`, ...rest.map((one) => `${indent}${one}`)];
}

/** Undefined if the time is too short to mention. */
function duration(seconds: number | undefined): string | undefined {
  const whole = Math.round(seconds ?? 0);
  if (whole === 0) return undefined;
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}
