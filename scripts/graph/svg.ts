// The picture of a chain as SVG: a self-contained file, in the viewer's preferred colours.
import { findGate } from "../../components/gates/registry.ts";
import { escaped } from "../base/markup.ts";
import type { Stage } from "./chain.ts";
import { type Arrow, type Box, layout } from "./layout.ts";

export interface ChainPicture {
  readonly environment: string;
  /** What stands below that. */
  readonly summary: string;
  readonly stages: readonly Stage[];
  readonly nodes: readonly string[];
}

const headingHeight = 92;

export function chainSvg({ environment, summary, stages, nodes }: ChainPicture): string {
  const { width, height, boxes, arrows } = layout(stages, nodes, headingHeight);
  const title = `The chain of ${environment}`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="title description">`,
    `<title id="title">${escaped(title)}</title>`,
    `<desc id="description">${escaped(description(stages))}</desc>`,
    `<style>${style}</style>`,
    '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path class="tip" d="M0 0.5 8 4 0 7.5z"/></marker></defs>',
    '<rect class="page" width="100%" height="100%" rx="8"/>',
    `<text class="heading" x="20" y="36">${escaped(title)}</text>`,
    `<text class="detail" x="20" y="58">${escaped(summary)}</text>`,
    ...legend(),
    ...boxes.filter(({ kind }) => kind === "stage").map(boxSvg),
    ...arrows.map(arrowSvg),
    ...boxes.filter(({ kind }) => kind !== "stage").map(boxSvg),
    "</svg>",
    "",
  ].join("\n");
}

/** The chain as text, for readers who do not see the picture. */
function description(stages: readonly Stage[]): string {
  return stages
    .flatMap(({ items, gates }) => [
      ...(items.length === 0 ? [] : [items.map(({ title, nodes }) => [title, ...nodes].join(" ")).join(", ")]),
      ...gates.map(({ name }) => `gate ${name}`),
    ])
    .join("; then ");
}

function legend(): string[] {
  const entries = [
    ["gate", "gate"],
    ["cell", "for one node"],
    ["card unproven", "no gate waits for it"],
    ["card computed", "computed, creates nothing"],
  ] as const;
  let x = 20;
  return entries.map(([kind, text]) => {
    const sample = `<rect class="${kind}" x="${x}" y="69" width="18" height="12" rx="3"/>`;
    const label = `<text class="detail" x="${x + 25}" y="79">${text}</text>`;
    x += text.length * 6.7 + 48;
    return sample + label;
  });
}

function boxSvg(box: Box): string {
  const { kind, x, y, width, height, lines, role, gate } = box;
  const rect = (name: string) =>
    `<rect class="${name}" x="${x}" y="${y}" width="${width}" height="${height}" rx="${kind === "stage" ? 10 : 6}"/>`;
  if (kind === "stage") return rect("stage");
  if (gate !== undefined) {
    const middle = y + height / 2;
    const { proves = "" } = findGate(gate.name) ?? {};
    const limit = gate.deadlineSeconds === undefined ? "" : `within ${gate.deadlineSeconds} s`;
    return [
      rect("gate"),
      `<path class="sign" d="M${x + 20} ${middle - 8}l8 8-8 8-8-8z"/>`,
      `<text x="${x + 38}" y="${middle + 5}"><tspan class="name">${gate.name}</tspan><tspan class="proof" dx="12">${escaped(proves)}</tspan></text>`,
      `<text class="proof" text-anchor="end" x="${x + width - 14}" y="${middle + 5}">${limit}</text>`,
    ].join("");
  }
  if (kind === "label") {
    const first = y + height / 2 + 5 - ((lines.length - 1) * 16) / 2;
    return lines
      .map((line, place) => `<text class="title label" x="${x}" y="${first + place * 16}">${escaped(line)}</text>`)
      .join("");
  }
  const [title = "", ...details] = lines;
  if (kind === "cell") {
    const [whole = title] = details;
    const name = `<title>${escaped(whole)}</title>`;
    return `<g>${name}${rect(`cell ${role}`)}<text class="node" text-anchor="middle" x="${x + width / 2}" y="${y + height / 2 + 5}">${escaped(title)}</text></g>`;
  }
  const texts = details.map(
    (line, place) => `<text class="detail" x="${x + 12}" y="${y + 36 + place * 17}">${escaped(line)}</text>`,
  );
  return `${rect(`card ${role}`)}<text class="title" x="${x + 12}" y="${y + 19}">${escaped(title)}</text>${texts.join("")}`;
}

function arrowSvg(points: Arrow): string {
  const path = points.map(({ x, y }, place) => `${place === 0 ? "M" : "L"}${x} ${y}`).join("");
  return `<path class="arrow" marker-end="url(#tip)" d="${path}"/>`;
}

const light = { page: "#fff", stage: "#f6f8fa", edge: "#d1d9e0", card: "#fff", text: "#1f2328", soft: "#59636e" };
const lightGate = {
  gate: "#dafbe1",
  rim: "#1a7f37",
  proof: "#116329",
  node: "#ddf4ff",
  shore: "#54aeff",
  line: "#818b98",
};
const dark = { page: "#0d1117", stage: "#151b23", edge: "#3d444d", card: "#212830", text: "#f0f6fc", soft: "#9198a1" };
const darkGate = {
  gate: "#12261e",
  rim: "#3fb950",
  proof: "#7ee787",
  node: "#0c2d4f",
  shore: "#388bfd",
  line: "#818b98",
};

const colours = (values: Readonly<Record<string, string>>) =>
  Object.entries(values)
    .map(([name, value]) => `--${name}:${value}`)
    .join(";");

const style = `
svg{${colours({ ...light, ...lightGate })};font-family:system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",Arial,sans-serif}
@media(prefers-color-scheme:dark){svg{${colours({ ...dark, ...darkGate })}}}
.page{fill:var(--page)}.stage{fill:var(--stage);stroke:var(--edge)}
.card{fill:var(--card);stroke:var(--line)}.cell{fill:var(--node);stroke:var(--shore)}.gate{fill:var(--gate);stroke:var(--rim);stroke-width:1.5}
.unproven{stroke-dasharray:4 3}.computed{fill:none;stroke:var(--line);stroke-dasharray:1 3}
.heading{fill:var(--text);font-size:20px;font-weight:600}.title,.node{fill:var(--text);font-size:13px}.title{font-weight:600;paint-order:stroke}.label{stroke:var(--stage);stroke-width:5px}
.detail{fill:var(--soft);font-size:12px}.name{fill:var(--proof);font-size:15px;font-weight:600}.proof{fill:var(--proof);font-size:13px}
.sign{fill:var(--rim)}.arrow{fill:none;stroke:var(--line)}.tip{fill:var(--line)}
`;
