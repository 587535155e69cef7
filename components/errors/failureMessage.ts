import { catalogue } from "./catalogue.ts";
import type { FailureDetails } from "./failure.ts";

/** The whole failure as text for a person: the code and its title, then a line for each thing that is known. */
export function failureMessage(details: FailureDetails): string {
  const { code, what, where, seen, forSeconds, remedy } = details;
  const entry = catalogue[code];
  const lines: readonly (readonly [name: string, text: string | undefined])[] = [
    ["where", where],
    ["wanted", what],
    ["seen", seen],
    ["for", forSeconds === undefined || forSeconds < 0.5 ? undefined : duration(forSeconds)],
    ["cause", entry.cause],
    ["remedy", remedy ?? entry.remedy],
  ];
  const known = lines.flatMap(([name, text]) =>
    text === undefined ? [] : [`  ${`${name}:`.padEnd(8)}${block(text)}`],
  );
  return [`${code} ${entry.title}`, ...known].join("\n");
}

/** Words of others may have lines: these stay under each other, indented alike everywhere. */
function block(text: string): string {
  return text
    .trimEnd()
    .split(/\r?\n/)
    .map((line) => line.replace(/^\t+/, (tabs) => "  ".repeat(tabs.length)))
    .join(`\n${" ".repeat(10)}`);
}

function duration(seconds: number): string {
  const whole = Math.round(seconds);
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}
