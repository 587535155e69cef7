// What the documents tell a person to type, so that tests can type it as it stands there.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../scripts/workspace/paths.ts";

const programs = "npm|kubectl|talosctl|kubeseal|openssl|pveum|cp";

/** The commands in the indented blocks of a page, without what is remarked on them. */
export function blockCommands(page: string): string[] {
  const line = new RegExp(`^ +(?:\\$ )?((?:${programs}) .*?)(?: +# .*)?$`, "gm");
  return [...textOf(page).matchAll(line)].map(([, command = ""]) => command);
}

/** Those between backticks that begin so. */
export function inlineCommands(page: string, beginning: string): string[] {
  return [...textOf(page).matchAll(/`([^`\n]+)`/g)]
    .map(([, command = ""]) => command)
    .filter((command) => command.startsWith(`${beginning} `));
}

function textOf(page: string): string {
  return readFileSync(join(root, page), "utf8");
}
