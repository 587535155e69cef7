// The variables of a workflow run, and the output of its steps.
import { appendFile } from "node:fs/promises";

/** The address of the run's page; undefined outside of a run. */
export function runAddress(environment: NodeJS.ProcessEnv = process.env): string | undefined {
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository, GITHUB_RUN_ID: run } = environment;
  return server && repository && run ? `${server}/${repository}/actions/runs/${run}` : undefined;
}

/** Shows a line at the top of the run's page. Outside of a run it is printed. */
export function annotate(level: "notice" | "warning", text: string): void {
  // GitHub parses the line; its special characters have to be escaped.
  const escaped = text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
  console.log(process.env.GITHUB_ACTIONS === "true" ? `::${level}::${escaped}` : text);
}

/** Adds Markdown to the run's summary. */
export async function summarize(markdown: string): Promise<void> {
  const { GITHUB_STEP_SUMMARY: file } = process.env;
  if (file) await appendFile(file, `${markdown}\n`);
}

/** Sets an output of the step; prints it outside of a run. */
export async function setOutput(name: string, value: string): Promise<void> {
  const { GITHUB_OUTPUT: file } = process.env;
  if (file) await appendFile(file, `${name}=${value}\n`);
  else console.log(value);
}
