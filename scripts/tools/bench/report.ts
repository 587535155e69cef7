// The bench's figures as a table of Markdown, and as a chart.
import { type BenchRun, type Comparison, compare, type Figure, type Measure } from "./figures.ts";

export interface BenchFacts {
  /** What was measured: `3 control planes and 3 workers`. */
  readonly cluster: string;
  readonly rounds: number;
  /** The machine's load before the first round. */
  readonly load: number;
}

export function benchTable(runs: readonly BenchRun[], { cluster, rounds, load }: BenchFacts): string {
  const rows = compare(runs).map(({ measure, sluice, plain, ratio, isMet }) => [
    measure.title,
    shown(sluice, measure),
    shown(plain, measure),
    ratio.toFixed(2),
    measure.goal === undefined ? "" : `${measure.goal}: ${isMet ? "met" : "not met"}`,
  ]);
  const lines = [["", "Sluice", "plain program", "ratio", "goal"], Array(5).fill("---"), ...rows];
  const many = rounds === 1 ? "one round" : `${rounds} rounds, in turns: median (least to most)`;
  return [
    `${cluster}; ${many}; load ${load.toFixed(1)} before.`,
    "",
    ...lines.map((cells) => `| ${cells.join(" | ")} |`),
    "",
  ].join("\n");
}

function shown({ median, least, most }: Figure, { unit }: Measure): string {
  const text = (value: number) => value.toFixed(unit === "s" ? 1 : 0);
  const spread = least === most ? "" : ` (${text(least)} to ${text(most)})`;
  return `${text(median)} ${unit}${spread}`;
}

const [width, barHeight, rowHeight, left, right, top] = [720, 12, 44, 210, 90, 56];
const colours = { sluice: "#1f6feb", plain: "#8b949e" } as const;

/** Durations as bars, both programs on one scale. */
export function benchChart(runs: readonly BenchRun[], { cluster, rounds }: BenchFacts): string {
  const durations = compare(runs).filter(({ measure }) => measure.unit === "s");
  const longest = Math.max(...durations.flatMap(({ sluice, plain }) => [sluice.median, plain.median]), 1);
  const scale = (seconds: number) => ((width - left - right) * seconds) / longest;
  const height = top + durations.length * rowHeight + 12;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="13" role="img" aria-label="Durations of Sluice and of a plain program">`,
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    `<text x="12" y="22" font-weight="bold">${cluster}, ${rounds === 1 ? "one round" : `median of ${rounds} rounds`}</text>`,
    key(12, "sluice", "Sluice, with every proof"),
    key(240, "plain", "plain Pulumi program"),
    ...durations.flatMap((one, index) => bars(one, top + index * rowHeight, scale)),
    "</svg>",
    "",
  ].join("\n");
}

function key(x: number, program: keyof typeof colours, text: string): string {
  return `<rect x="${x}" y="32" width="12" height="12" fill="${colours[program]}"/><text x="${x + 18}" y="43">${text}</text>`;
}

function bars({ measure, sluice, plain }: Comparison, y: number, scale: (seconds: number) => number): string[] {
  const bar = (program: keyof typeof colours, { median }: Figure, at: number) =>
    `<rect x="${left}" y="${at}" width="${scale(median).toFixed(1)}" height="${barHeight}" fill="${colours[program]}"/>` +
    `<text x="${(left + scale(median) + 6).toFixed(1)}" y="${at + barHeight - 1}">${median.toFixed(1)} s</text>`;
  return [
    `<text x="12" y="${y + 24}">${measure.title}</text>`,
    bar("sluice", sluice, y + 6),
    bar("plain", plain, y + 8 + barHeight),
  ];
}
