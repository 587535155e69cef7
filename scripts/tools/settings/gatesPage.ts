// The table of gates in docs/gates.md, between marks in text that is written by hand.
import { gates } from "../../../components/gates/registry.ts";

const region = /^<!-- gates -->\n(?:.*\n)*?<!-- end of gates -->$/m;

export function gatesPage(page: string): string {
  const rows = gates.map(({ name, opensWhen, timeout: { key }, timeoutCode }) => [
    name,
    opensWhen,
    `\`${key}\``,
    timeoutCode,
  ]);
  const heading = ["gate", "opens when", "timeouts", "code"];
  const table = [heading, heading.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`);
  return page.replace(region, () => ["<!-- gates -->", "", ...table, "", "<!-- end of gates -->"].join("\n"));
}
