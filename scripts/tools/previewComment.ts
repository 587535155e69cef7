// For the preview workflow, which has two jobs: the one that runs the code of a pull request has no write access, and the one that writes comments runs the
// code of the target branch.
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { readOptions } from "../base/commandLine.ts";
import { Failure, main } from "../base/fail.ts";
import { GitHubError, gitHub } from "../workflows/github.ts";
import { maskSecrets } from "../workflows/maskSecrets.ts";
import { putPreviewComment } from "../workflows/previewComment.ts";
import { commentLimit, previewReport } from "../workflows/previewReport.ts";
import { annotate, runAddress, summarize } from "../workflows/workflowRun.ts";

const help = `node scripts/run.mjs previewComment report <environment> <output of the preview> <folder>
    writes <folder>/<environment>.md and the run's summary; PREVIEW_OUTCOME is the outcome of the preview
node scripts/run.mjs previewComment put <pull request> <folder>
    puts every report of the folder into its comment on the pull request`;

await main(async () => {
  const call = readOptions(help, {}, { allowPositionals: true });
  if (call === undefined) return 0;
  const { positionals } = call;
  const [command, ...args] = positionals;
  const [first = "", second = "", third = ""] = args;
  if (command === "report" && args.length === 3) await report(first, second, third);
  else if (command === "put" && args.length === 2) await put(Number(first), second);
  else throw new Failure(help);
  return 0;
});

async function report(environment: string, output: string, folder: string): Promise<void> {
  const markdown = previewReport({
    environment,
    text: maskSecrets(await readFile(output, "utf8").catch(() => "The preview did not start.")),
    succeeded: process.env.PREVIEW_OUTCOME === "success",
    hasBackend: Boolean(process.env.PULUMI_BACKEND_URL),
    commit: process.env.PREVIEW_COMMIT ?? process.env.GITHUB_SHA ?? "unknown",
    run: runAddress(),
  });
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, `${environment}.md`), markdown);
  await summarize(markdown);
}

async function put(pull: number, folder: string): Promise<void> {
  const github = gitHub();
  for (const file of (await readdir(folder)).sort()) {
    const environment = /^([\w-]+)\.md$/.exec(file)?.[1];
    if (environment === undefined) continue;
    const text = await readFile(join(folder, file), "utf8");
    try {
      const done = await putPreviewComment(github, pull, environment, text.slice(0, commentLimit));
      console.log(`${environment}: comment ${done}`);
    } catch (error) {
      // The preview itself is in its job's summary, and its outcome is that of the job.
      if (!(error instanceof GitHubError && error.isRefusal)) throw error;
      annotate("notice", `The preview of ${environment} is in the run's summary only: this run may not comment.`);
    }
  }
}
