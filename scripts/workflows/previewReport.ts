import { codeBlock } from "./codeBlock.ts";

export interface Preview {
  readonly environment: string;
  /** The engine's output. */
  readonly text: string;
  readonly succeeded: boolean;
  /** Whether it was compared with a state, or with nothing. */
  readonly hasBackend: boolean;
  readonly commit: string;
  /** The address of the run's page. */
  readonly run: string | undefined;
}

/** GitHub takes 65,536 characters; a part of that is left for the mark and what is around the text. */
export const commentLimit = 65_000;

/** A preview as Markdown, not longer than a comment may be. */
export function previewReport(preview: Preview): string {
  const text = engineText(preview.text);
  const outcome = preview.succeeded ? changes(text) : "failed";
  const against = preview.hasBackend ? "the deployed state" : "nothing deployed: this run has no backend";
  const facts = [`Commit ${preview.commit.slice(0, 12)}`, `compared with ${against}`];
  const head = [
    `### Preview of \`${preview.environment}\`: ${outcome}`,
    "",
    [...facts, ...(preview.run === undefined ? [] : [`[run](${preview.run})`])].join(" · "),
    "",
    preview.succeeded ? "<details><summary>Full preview</summary>" : "<details open><summary>Output</summary>",
    "",
  ].join("\n");
  const foot = "\n\n</details>";
  return `${head}\n${codeBlock(text, commentLimit - head.length - foot.length - 1)}${foot}`;
}

/** Without what was printed before the engine started. */
function engineText(text: string): string {
  const start = text.search(/^Previewing update/m);
  return start < 0 ? text : text.slice(start);
}

/** The engine's own count, for example "3 to create, 1 to update". */
function changes(text: string): string {
  const [, list = ""] = /^Resources:\n((?: .*\n?)+)/m.exec(text) ?? [];
  const counts = [...list.matchAll(/(\d+) (to [\w-]+)/g)].map(([, count, what]) => `${count} ${what}`);
  return counts.length === 0 ? "no changes" : counts.join(", ");
}
