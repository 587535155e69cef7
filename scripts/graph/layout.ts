// Where everything of a chain is in its picture: stages and gates below each other, in a stage each layer below the one before it, and one column for
// each node.
import { cut, wrapped } from "../base/table.ts";
import type { ChainGate, Item, Stage } from "./chain.ts";

export interface Box {
  readonly kind: "stage" | "gate" | "card" | "cell" | "label";
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  /** The first is the title. */
  readonly lines: readonly string[];
  readonly role?: Item["role"];
  readonly gate?: ChainGate;
}

/** Its corners; the tip is at the last. */
export type Arrow = readonly Point[];

interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Picture {
  readonly width: number;
  readonly height: number;
  /** Later ones are above earlier ones. */
  readonly boxes: readonly Box[];
  readonly arrows: readonly Arrow[];
}

const pictureWidth = 900;
const margin = 20;
const padding = 11;
/** Between boxes beside each other, and between rows. */
const gap = 12;
const rowGap = 24;
const arrowLength = 11;
const gateHeight = 32;
const cellHeight = 28;
const labelWidth = 168;
const mostCells = 8;
const [left, right] = [margin + padding, pictureWidth - margin - padding];
const lanesWidth = right - left - labelWidth;

/** Pixels that a text needs at most, in the two sizes of the picture. */
const textWidth = { title: 8.4, detail: 6.7 };
const lineHeight = 17;
const widestDetail = 46;

/** `top` is the space for a heading. */
export function layout(stages: readonly Stage[], nodes: readonly string[], top: number): Picture {
  const boxes: Box[] = [];
  const arrows: Arrow[] = [];
  const columns = columnsOf(nodes);
  const lanes = [...new Set([...columns.values()].map(({ center }) => center))];
  let y = top;
  const arrowsTo = (areLanes: boolean) => {
    arrows.push(...down(areLanes ? lanes : [pictureWidth / 2], y));
    y += arrowLength;
  };
  for (const stage of stages) {
    const { items, gates } = stage;
    if (boxes.length > 0) arrowsTo(items.some(({ nodes, layer }) => nodes.length > 0 && layer === 0));
    if (items.length > 0) {
      const placed = layoutStage(stage, columns, y);
      boxes.push(...placed.boxes);
      arrows.push(...placed.arrows);
      y = placed.bottom;
      if (gates.length > 0) arrowsTo(endsInLanes(placed.boxes));
    }
    if (gates.length === 0) continue;
    const width = (pictureWidth - 2 * margin - gap * (gates.length - 1)) / gates.length;
    for (const [index, gate] of gates.entries()) {
      const x = margin + index * (width + gap);
      boxes.push({ kind: "gate", x, y, width, height: gateHeight, lines: [gate.name], gate });
    }
    y += gateHeight;
  }
  return { width: pictureWidth, height: y + margin, boxes, arrows };
}

interface Column {
  readonly x: number;
  readonly width: number;
  readonly center: number;
  /** Of several rows, where there are many nodes. */
  readonly row: number;
}

function columnsOf(nodes: readonly string[]): ReadonlyMap<string, Column> {
  const count = Math.min(nodes.length, mostCells);
  const width = Math.min(130, (lanesWidth - (count - 1) * gap) / count);
  return new Map(
    nodes.map((node, place) => {
      const x = left + labelWidth + (place % mostCells) * (width + gap);
      return [node, { x, width, center: x + width / 2, row: Math.floor(place / mostCells) }];
    }),
  );
}

/** Whether the last row of a stage is one of nodes. */
function endsInLanes(boxes: readonly Box[]): boolean {
  const inside = boxes.filter(({ kind }) => kind !== "stage");
  const bottom = Math.max(...inside.map((box) => box.y + box.height));
  return inside.some((box) => box.kind === "cell" && box.y + box.height === bottom);
}

function down(xs: readonly number[], y: number): Arrow[] {
  return xs.map((x) => [
    { x, y },
    { x, y: y + arrowLength },
  ]);
}

interface PlacedStage {
  readonly boxes: readonly Box[];
  readonly arrows: readonly Arrow[];
  readonly bottom: number;
}

function layoutStage(stage: Stage, columns: ReadonlyMap<string, Column>, top: number): PlacedStage {
  const besides = stage.items.some(({ nodes }) => nodes.length > 0) ? undefined : across(stage, top + padding);
  const placed = besides ?? downwards(stage, columns, top + padding);
  const boxes = placed.flat();
  const bottom = Math.max(...boxes.map((box) => box.y + box.height)) + padding;
  const width = pictureWidth - 2 * margin;
  const panel: Box = { kind: "stage", x: margin, y: top, width, height: bottom - top, lines: [] };
  const between = besides === undefined ? arrowsDown : arrowsAcross;
  const arrows = stage.links.flatMap(([from, to]) => between(placed[from] ?? [], placed[to] ?? []));
  return { boxes: [panel, ...boxes], arrows, bottom };
}

/** The boxes of each item, in rows: one, or one for each node behind a label. */
function downwards({ items }: Stage, columns: ReadonlyMap<string, Column>, top: number): Box[][] {
  const placed = new Map<Item, Box[]>();
  let y = top;
  for (const layer of layersOf(items)) {
    for (const row of rowsOf(layer)) {
      let x = left;
      for (const item of row) {
        const boxes = item.nodes.length > 0 ? lane(item, columns, y) : [card(item, x, y)];
        placed.set(item, boxes);
        x += (boxes[0]?.width ?? 0) + gap;
      }
      const bottoms = row.flatMap((item) => placed.get(item) ?? []).map((box) => box.y + box.height);
      y = Math.max(...bottoms) + rowGap;
    }
  }
  return items.map((item) => placed.get(item) ?? []);
}

/** The same where no item is of nodes: in columns, in the middle of the picture. Undefined where it is too narrow for that. */
function across({ items }: Stage, top: number): Box[][] | undefined {
  const placed = new Map<Item, Box[]>();
  let [x, last] = [0, 0];
  for (const layer of layersOf(items)) {
    let y = top;
    for (const item of layer) {
      const box = card(item, x, y);
      placed.set(item, [box]);
      y += box.height + gap;
      last = Math.max(last, box.x + box.width);
    }
    x = last + 2 * rowGap;
  }
  if (last > right - left) return undefined;
  const shift = (pictureWidth - last) / 2;
  const lowest = Math.max(...[...placed.values()].flat().map((box) => box.y + box.height));
  return items.map((item) => {
    const column = layersOf(items).find((layer) => layer.includes(item)) ?? [];
    const bottoms = column.flatMap((one) => placed.get(one) ?? []).map((box) => box.y + box.height);
    const lower = (lowest - Math.max(...bottoms)) / 2;
    return (placed.get(item) ?? []).map((box) => ({ ...box, x: box.x + shift, y: box.y + lower }));
  });
}

/** From the first to the last. */
function layersOf(items: readonly Item[]): Item[][] {
  const layers = [...new Set(items.map(({ layer }) => layer))].sort((a, b) => a - b);
  return layers.map((one) => items.filter(({ layer }) => layer === one).sort((a, b) => order(a) - order(b)));
}

/** Rows of nodes above what is beside them. What has no lines is first among rows and last among the others. */
function order({ nodes, role }: Item): number {
  if (nodes.length > 0) return role === "computed" ? 0 : 1;
  return 2 + ["proven", "unproven", "computed"].indexOf(role);
}

/** Cards beside each other as far as they fit; nodes have a row of their own. */
function rowsOf(items: readonly Item[]): Item[][] {
  const rows: Item[][] = [];
  let taken = 0;
  for (const item of items) {
    const row = rows.at(-1);
    const needed = item.nodes.length > 0 ? right - left : cardSize(item).width + gap;
    if (row === undefined || taken + needed > right - left + gap) {
      rows.push([item]);
      taken = needed;
    } else {
      row.push(item);
      taken += needed;
    }
  }
  return rows;
}

function card(item: Item, x: number, y: number): Box {
  const { width, height, lines } = cardSize(item);
  return { kind: "card", x, y, width, height, lines, role: item.role };
}

function cardSize({ title, kinds }: Item) {
  const lines = [title, ...wrapped(kinds.join(", "), widestDetail)];
  const widths = lines.map((line, place) => line.length * (place === 0 ? textWidth.title : textWidth.detail));
  return { width: Math.max(90, ...widths) + 2 * gap, height: lines.length * lineHeight + gap, lines };
}

/** A label, and a cell for each node. */
function lane({ title, nodes, role }: Item, columns: ReadonlyMap<string, Column>, y: number): Box[] {
  const cells = nodes.flatMap((node): Box[] => {
    const column = columns.get(node);
    if (column === undefined) return [];
    const { x, width, row } = column;
    const most = Math.floor((width - 8) / textWidth.detail);
    return [
      {
        kind: "cell",
        x,
        y: y + row * (cellHeight + 6),
        width,
        height: cellHeight,
        lines: [cut(node, most), node],
        role,
      },
    ];
  });
  const lines = wrapped(title, Math.floor(labelWidth / textWidth.title));
  const label: Box = { kind: "label", x: left, y, width: labelWidth - gap, height: cellHeight, lines, role };
  return [label, ...cells];
}

/** Between the cells of the same node, and else from each to each: down, across above the lower one, and down again. */
function arrowsDown(from: readonly Box[], to: readonly Box[]): Arrow[] {
  const [sources, targets] = [from, to].map((boxes) => boxes.filter(({ kind }) => kind !== "label")) as [Box[], Box[]];
  const areLanes = [sources, targets].every((boxes) => boxes.every(({ kind }) => kind === "cell"));
  const turn = Math.min(...targets.map((box) => box.y)) - rowGap / 2;
  return sources.flatMap((a) =>
    targets
      .filter((b) => !areLanes || a.lines[1] === b.lines[1])
      .map((b): Arrow => {
        const [x, end] = [a.x + a.width / 2, b.x + b.width / 2];
        const across =
          x === end
            ? []
            : [
                { x, y: turn },
                { x: end, y: turn },
              ];
        return [{ x, y: a.y + a.height }, ...across, { x: end, y: b.y }];
      }),
  );
}

function arrowsAcross([from]: readonly Box[], [to]: readonly Box[]): Arrow[] {
  if (from === undefined || to === undefined) return [];
  const [start, end] = [from, to].map((box) => box.y + box.height / 2) as [number, number];
  const [x, last] = [from.x + from.width, to.x];
  const turn = last - rowGap;
  const bend =
    start === end
      ? []
      : [
          { x: turn, y: start },
          { x: turn, y: end },
        ];
  return [[{ x, y: start }, ...bend, { x: last, y: end }]];
}
