import { type Drift, driftReport } from "../drift/report.ts";
import { codeBlock } from "./codeBlock.ts";
import type { GitHub } from "./github.ts";
import { findOwn, ownMark, type Post } from "./ownMark.ts";

interface Issue extends Post {
  readonly number: number;
  readonly id: number;
  readonly pull_request?: object;
}

export interface IssueOptions {
  /** The workflow's run, if there is one. */
  readonly run: string | undefined;
  /** Removes secrets from the posted text. */
  readonly mask: (text: string) => string;
}

const bodyLimit = 60_000;

/**
 * Maintains the one drift issue of an environment: opened when drift is found, kept up to date, closed when the drift is gone. If the check failed or could
 * not check everything, it proves neither, and the issue stays as it is.
 */
export async function recordDrift(
  github: GitHub,
  environment: string,
  drift: Drift,
  { run, mask }: IssueOptions,
): Promise<"opened" | "updated" | "closed" | "nothing"> {
  const mark = ownMark("drift", environment);
  if (drift.state === "failed" || drift.state === "unseen") return "nothing";
  const open = (await github.all<Issue>("/issues?state=open")).filter((issue) => issue.pull_request === undefined);
  const [first, ...others] = findOwn(open, mark);
  const superfluous = drift.state === "none" ? [first, ...others].filter((issue) => issue !== undefined) : others;
  for (const { number } of superfluous) {
    const why = drift.state === "none" ? "The drift is gone." : `Continued in #${first?.number}.`;
    await github.post(`/issues/${number}/comments`, { body: withRun(why, run) });
    await github.patch(`/issues/${number}`, { state: "closed", state_reason: "completed" });
  }
  if (drift.state === "none") return superfluous.length === 0 ? "nothing" : "closed";
  const text = {
    title: `Drift in ${environment}`,
    body: [
      mark,
      codeBlock(mask(driftReport(environment, drift)), bodyLimit),
      "",
      withRun("This issue is kept up to date by the drift workflow, which closes it when the drift is gone.", run),
    ].join("\n"),
  };
  if (first === undefined) {
    await github.post("/issues", text);
    return "opened";
  }
  await github.patch(`/issues/${first.number}`, text);
  return "updated";
}

function withRun(text: string, run: string | undefined): string {
  return run === undefined ? text : `${text} ([run](${run}))`;
}
