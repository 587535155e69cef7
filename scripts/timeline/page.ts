// The timeline of a run as one HTML file that loads nothing.
import { count } from "../../components/model/count.ts";
import { escaped } from "../base/markup.ts";
import type { Lane, Note, Span } from "./lanes.ts";
import { style } from "./pageStyle.ts";
import { type PartName, partNames } from "./parts.ts";

export interface TimelinePage {
  readonly environment: string;
  /** Milliseconds since 1970. */
  readonly began: number;
  readonly ended: number;
  readonly lanes: readonly Lane[];
  /** Milliseconds of the critical path. */
  readonly parts: Readonly<Record<PartName, number>>;
  /** When the engine ran. */
  readonly runs: readonly { readonly began: number; readonly ended: number }[];
  readonly hasFailed: boolean;
}

const words: Readonly<Record<Span["kind"], string>> = {
  work: "worked",
  waiting: "waited until its conditions were met",
  stable: "stability window",
  failed: "failed",
  interrupted: "interrupted",
};

export function timelinePage(run: TimelinePage): string {
  const { environment, began, ended, lanes, hasFailed, runs } = run;
  const title = `${environment}: ${hasFailed ? "failed after" : "up in"} ${seconds(ended - began)}`;
  const gates = lanes.filter(({ isGate }) => isGate).length;
  const resumed = runs.length === 1 ? "" : `, resumed ${runs.length === 2 ? "once" : `${runs.length - 1} times`}`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${escaped(title)}</title>
<style>${style}</style>
</head>
<body>
<header>
<h1${hasFailed ? ' class="bad"' : ""}>${escaped(title)}</h1>
<p>${new Date(began).toISOString().slice(0, 19).replace("T", " ")} UTC, ${count(lanes.length - gates, "resource")} and ${count(gates, "gate")} created or changed${resumed}; from the first resource to the last</p>
</header>
<main>
${failures(lanes)}${whereTimeWent(run)}<section aria-labelledby="lanes">
<h2 id="lanes">Timeline</h2>
${legend()}
<label class="filter"><input type="checkbox" id="only"> show only the critical path</label>
<div class="row axis" aria-hidden="true"><span></span><span class="track">${axis(ended - began)}</span><span></span></div>
<ol>
${lanes.map((lane) => laneItem(lane, run)).join("\n")}
</ol>
</section>
</main>
</body>
</html>
`;
}

function failures(lanes: readonly Lane[]): string {
  const failed = lanes.flatMap(({ title, name, notes }) => {
    const errors = notes.filter(({ kind }) => kind === "error");
    return errors.map(({ text }) => `<h3>${escaped(`${title} ${name}`)}</h3>\n<pre>${escaped(text)}</pre>\n`);
  });
  if (failed.length === 0) return "";
  return `<section aria-labelledby="failures">\n<h2 id="failures">What failed</h2>\n${failed.join("")}</section>\n`;
}

function whereTimeWent({ parts }: TimelinePage): string {
  const entries = (Object.entries(parts) as [PartName, number][]).filter(([, length]) => length > 0);
  const total = entries.reduce((sum, [, length]) => sum + length, 0);
  if (total === 0) return "";
  const share = (length: number) => `${((100 * length) / total).toFixed(1)}%`;
  const bar = entries.map(([name, length]) => `<i class="${name}" style="width:${share(length)}"></i>`).join("");
  const rows = entries.map(
    ([name, length]) =>
      `<tr><th scope="row"><i class="key ${name}"></i>${partNames[name]}</th><td>${seconds(length)}</td><td>${share(length)}</td></tr>`,
  );
  return `<section aria-labelledby="parts">
<h2 id="parts">Where the time went</h2>
<div class="parts" aria-hidden="true">${bar}</div>
<table><caption class="hidden">The critical path by what was waited for</caption>
${rows.join("\n")}
</table>
</section>
`;
}

function legend(): string {
  const entries = [
    ["work", "resource"],
    ["waiting", "gate waits for its conditions"],
    ["stable", "stability window"],
    ["failed", "failed"],
  ].map(([kind, text]) => `<span><i class="key ${kind}"></i>${text}</span>`);
  const marks =
    '<span><i class="key mark"></i>a message or a fact</span><span><b>bold, with a bar at the left</b>: on the critical path</span>';
  return `<p class="legend">${entries.join("")}${marks}</p>`;
}

/** A few marks at round seconds, as far as their texts fit. */
function axis(length: number): string {
  const step = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1200, 3600].find((one) => length / 1000 / one <= 8) ?? 7200;
  const marks = Array.from({ length: Math.floor(length / 1000 / step) + 1 }, (_, place) => place * step).filter(
    (mark) => mark * 1000 <= length * 0.94,
  );
  return marks
    .map(
      (mark) =>
        `<span style="left:${percent(mark * 1000, length)}">${step >= 60 ? `${mark / 60} min` : `${mark} s`}</span>`,
    )
    .join("");
}

function laneItem(lane: Lane, { began, ended, runs }: TimelinePage): string {
  const { title, name, isGate, isCritical, spans, notes } = lane;
  const length = ended - began;
  const at = (moment: number) => percent(moment - began, length);
  const took = spans.reduce((sum, span) => sum + span.ended - span.began, 0);
  const first = Math.min(...spans.map((span) => span.began));
  const pauses = runs.slice(1).map((run, place) => ({ began: runs[place]?.ended ?? run.began, ended: run.began }));
  const bars = [
    ...pauses.map(
      (pause) =>
        `<i class="pause" style="left:${at(pause.began)};width:${percent(pause.ended - pause.began, length)}" title="the engine did not run"></i>`,
    ),
    ...spans.map((span) => bar(span, at(span.began), percent(span.ended - span.began, length), span.began - began)),
    ...notes
      .filter(({ kind }) => kind !== "outcome")
      .map(
        (note) =>
          `<i class="mark ${note.kind}" style="left:${at(note.at)}" title="${escaped(noteText(note, began))}"></i>`,
      ),
  ];
  const label = isGate ? `gate ${title}` : `${title} <small>${escaped(name)}</small>`;
  const hidden = `<span class="hidden">, began at ${seconds(first - began)}${isCritical ? ", on the critical path" : ""}, took </span>`;
  const row = `<span class="name">${label}</span><span class="track">${bars.join("")}</span>${hidden}<span class="took">${seconds(took)}</span>`;
  const classes = ["lane", isGate ? "gate" : "", isCritical ? "critical" : ""].filter(Boolean).join(" ");
  if (notes.length === 0) return `<li class="${classes}"><div class="row">${row}</div></li>`;
  const story = notes.map((note) => `<li class="${note.kind}">${escaped(noteText(note, began))}</li>`).join("");
  return `<li class="${classes}"><details><summary class="row">${row}</summary><ul>${story}</ul></details></li>`;
}

function bar({ kind, began, ended }: Span, left: string, width: string, since: number): string {
  const hover = `${words[kind]}: ${seconds(ended - began)}, from ${seconds(since)} on`;
  return `<i class="bar ${kind}" style="left:${left};width:${width}" title="${hover}"></i>`;
}

function noteText({ at, text }: Note, began: number): string {
  return `${seconds(at - began)}  ${text}`;
}

function percent(part: number, whole: number): string {
  return `${((100 * part) / Math.max(whole, 1)).toFixed(2)}%`;
}

function seconds(ms: number): string {
  if (ms < 120_000) return `${(ms / 1000).toFixed(1)} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`;
}
