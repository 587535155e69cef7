// For the workflows: `node scripts/run.mjs workflowMatrix preview|drift` sets the output `environments`, a JSON list.
import { readFile } from "node:fs/promises";
import { driftMatrix, previewMatrix } from "./workflows/matrix.ts";
import { annotate, setOutput, summarize } from "./workflows/workflowRun.ts";
import { environments, settingsFile } from "./workspace/environments.ts";
import { Failure, main } from "./workspace/fail.ts";

const matrices = new Map([
  ["preview", previewMatrix],
  ["drift", driftMatrix],
]);

await main(async () => {
  const matrix = matrices.get(process.argv[2] ?? "");
  if (matrix === undefined) throw new Failure(`of what? One of ${[...matrices.keys()].join(", ")}.`);
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
