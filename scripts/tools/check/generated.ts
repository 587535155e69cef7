// Files of the checkout that are generated from code.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { readOptions } from "../../base/commandLine.ts";
import { Failure } from "../../base/fail.ts";
import { root } from "../../base/paths.ts";

/** A file by its path in the checkout, and the function that generates it from its current text. */
type Generated = Readonly<Record<string, (text: string) => string>>;

/** `npm run <command> -- [--check]`: writes the files, or only checks that they are up to date. */
export async function generate(command: string, what: string, files: Generated): Promise<number> {
  const usage = `npm run ${command} -- [--check]\n\n${what}\nWith --check only reports whether they would change.`;
  const call = readOptions(usage, { check: { type: "boolean" } });
  if (call === undefined) return 0;
  for (const [file, regenerate] of Object.entries(files)) {
    const path = join(root, file);
    const text = await readFile(path, "utf8");
    const wanted = regenerate(text);
    if (!call.values.check) await writeFile(path, wanted);
    else if (text !== wanted) throw new Failure(`${file} is not up to date. Run \`npm run ${command}\`.`);
    console.log(`sluice: ${file} is ${call.values.check ? "up to date" : "written"}`);
  }
  return 0;
}
