// The reference of keys in docs/environments.md: tables between marks, in text that is written by hand.
import { changes } from "../../../components/model/settings/documentation.ts";
import type { Platform } from "../../../stacks/platforms/platform.ts";
import { allPlatforms } from "../../../stacks/platforms/registry.ts";
import { clusterConfigSchema, secretKeys } from "../../../stacks/schema/clusterConfig.ts";
import { listSettings, type Setting } from "./listSettings.ts";
import { valueText, yamlText } from "./valueText.ts";

const legend = /^<!-- effects of a change -->\n(?:.*\n)*?<!-- end of effects -->$/gm;
const region = /^<!-- settings: (.*) -->\n(?:.*\n)*?<!-- end of settings -->$/gm;

/** The page with all its tables regenerated. Each top-level key must be in exactly one of them. */
export function settingsPage(page: string): string {
  const listed = [...page.matchAll(region)].flatMap(([, keys = ""]) => keys.split(" "));
  const all = Object.keys(clusterConfigSchema.shape);
  const wrong = [
    ...all.filter((key) => !listed.includes(key)).map((key) => `${key} is in no table`),
    ...listed.filter((key, index) => listed.indexOf(key) < index).map((key) => `${key} is in two tables`),
    ...listed.filter((key) => !all.includes(key)).map((key) => `${key} is no top-level key`),
  ];
  if (wrong.length > 0) {
    throw new Error(`the marks '<!-- settings: <keys> -->' of docs/environments.md: ${wrong.join("; ")}`);
  }
  const withLegend = page.replace(legend, () =>
    [
      ...["<!-- effects of a change -->", "", "| on a running cluster | |", "| --- | --- |"],
      ...Object.entries(changes).map(([change, meaning]) => `| ${change} | ${meaning} |`),
      ...["", "<!-- end of effects -->"],
    ].join("\n"),
  );
  return withLegend.replace(region, (_, keys: string) =>
    [`<!-- settings: ${keys} -->`, "", ...table(listSettings(keys.split(" "))), "", "<!-- end of settings -->"].join(
      "\n",
    ),
  );
}

function table(settings: readonly Setting[]): string[] {
  const hasChange = settings.some(({ documentation: { change } }) => change !== undefined);
  const heading = ["key", "value", "default", "what it decides", ...(hasChange ? ["on a running cluster"] : [])];
  const rows = settings.map((setting) => [
    `\`${setting.key}\``,
    valueText(setting),
    defaultText(setting),
    meaning(setting),
    ...(hasChange ? [setting.documentation.change ?? ""] : []),
  ]);
  return [heading, heading.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`);
}

/** In the words of the page, which explains them. */
function defaultText({ default: unset, documentation: { fallback } }: Setting): string {
  if (unset === "required") return "required";
  // An empty list may have a meaning of its own.
  if (unset === undefined || (Array.isArray(unset.value) && fallback !== undefined)) return fallback ?? "none";
  return `\`${yamlText(unset.value)}\``;
}

function meaning({ key, platforms, documentation: { description, example } }: Setting): string {
  const sentences = [
    ...(secretKeys.has(key) ? ["Secret."] : []),
    ...onlyOn(platforms),
    description,
    ...(example === undefined ? [] : [`Example: \`${yamlText(example)}\`.`]),
  ];
  return sentences.join(" ");
}

function onlyOn(platforms: readonly Platform[] | undefined): string[] {
  if (platforms === undefined) return [];
  const [only, ...more] = platforms.map(({ title }) => title);
  const others = allPlatforms.filter((platform) => !platforms.includes(platform)).map(({ title }) => title);
  return [more.length === 0 ? `Only ${only}.` : `Not on ${others.join(" or ")}.`];
}
