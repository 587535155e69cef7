// `npm run words`: lists the words that docs/glossary.md asks to avoid.
import { readOptions } from "../base/commandLine.ts";
import { Failure, main } from "../base/fail.ts";
import { findingsIn, formatFinding, wordedFiles } from "./words/findings.ts";

await main(async () => {
  const usage =
    "npm run words -- [path ...]\n\nLists the words that docs/glossary.md asks to avoid: in the paths that begin with these, or everywhere.";
  const call = readOptions(usage, {}, { allowPositionals: true });
  if (call === undefined) return 0;
  const { positionals } = call;
  const all = wordedFiles();
  const unknown = positionals.filter((path) => !all.some((file) => file.startsWith(path)));
  if (unknown.length > 0) throw new Failure(`no checked file begins with ${unknown.join(", ")}`);
  const files = all.filter((file) => positionals.length === 0 || positionals.some((path) => file.startsWith(path)));
  const found = findingsIn(files);
  for (const finding of found) console.log(formatFinding(finding));
  console.log(`${found.length} to reword in ${files.length} files`);
  return found.length === 0 ? 0 : 1;
});
