import { codeBlock } from "./codeBlock.ts";
import { type Drift, remedy } from "./driftReport.ts";
import type { GitHub } from "./github.ts";
import { findOwn, ownMark, type Post } from "./ownMark.ts";

interface Issue extends Post {
  readonly number: number;
  readonly id: number;
  readonly pull_request?: object;
}

const bodyLimit = 60_000;

/**
 * Keeps the one issue that an environment has while it drifts: opened when drift is found, its text kept up to date,
 * closed when the drift is gone. A check that failed proves neither and leaves the issue as it is.
 */
export async function recordDrift(
  github: GitHub,
  environment: string,
  drift: Drift,
  run: string | undefined,
): Promise<"opened" | "updated" | "closed" | "nothing"> {
  const mark = ownMark("drift", environment);
  if (drift.state === "failed") return "nothing";
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
      ...drift.resources.map(({ name, type, how }) => `- \`${name}\` ${how} (\`${type}\`)`),
      "",
      codeBlock(drift.text, bodyLimit),
      "",
      withRun(remedy(environment), run),
      "",
      "This issue is kept up to date by the drift workflow, which closes it when the drift is gone.",
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
