// The commands in the documents, so that tests can type exactly these.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../scripts/base/paths.ts";

const programs = "npm|kubectl|talosctl|kubeseal|openssl|pveum|cp";

/** The commands in the indented blocks of a page, without their comments. */
export function blockCommands(page: string): string[] {
  const line = new RegExp(`^ +(?:\\$ )?((?:${programs}) .*?)(?: +# .*)?$`, "gm");
  return [...textOf(page).matchAll(line)].map(([, command = ""]) => command);
}

/** Those between backticks that start with the given text. */
export function inlineCommands(page: string, beginning: string): string[] {
  return [...textOf(page).matchAll(/`([^`\n]+)`/g)]
    .map(([, command = ""]) => command)
    .filter((command) => command.startsWith(`${beginning} `));
}

function textOf(page: string): string {
  return readFileSync(join(root, page), "utf8");
}
