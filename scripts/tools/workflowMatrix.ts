// For the workflows: the environments that they check.
import { readFile } from "node:fs/promises";
import { readOptions } from "../base/commandLine.ts";
import { environments, settingsFile } from "../base/environments.ts";
import { Failure, main } from "../base/fail.ts";
import { driftMatrix, previewMatrix } from "../workflows/matrix.ts";
import { annotate, setOutput, summarize } from "../workflows/workflowRun.ts";

const matrices = new Map([
  ["preview", previewMatrix],
  ["drift", driftMatrix],
]);

const usage = `node scripts/run.mjs workflowMatrix ${[...matrices.keys()].join("|")}
    sets the workflow's output 'environments', a JSON list`;

await main(async () => {
  const call = readOptions(usage, {}, { allowPositionals: true });
  if (call === undefined) return 0;
  const { positionals } = call;
  const [what = "", ...more] = positionals;
  const matrix = matrices.get(what);
  if (matrix === undefined || more.length > 0) throw new Failure(usage);
  const candidates = await Promise.all(
    (await environments()).map(async (name) => ({ name, settings: await readFile(await settingsFile(name), "utf8") })),
  );
  const found = matrix(candidates, process.env);
  for (const notice of found.notices) {
    annotate("notice", notice);
    await summarize(notice);
  }
  await setOutput("environments", JSON.stringify(found.environments));
  return 0;
});
