// The commands that scripts/run.mjs finds, each with its file relative to the checkout.
import { globSync } from "node:fs";
import { basename } from "node:path";
import { root } from "../../scripts/base/paths.ts";

export const commands = globSync("scripts/{cli,tools}/*.ts", { cwd: root })
  .sort()
  .map((script) => ({ command: basename(script, ".ts"), script }));

export const commandNames = commands.map(({ command }) => command);
