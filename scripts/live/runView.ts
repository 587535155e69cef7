// What a run of the engine is doing, in lines that fit a narrow terminal: the engine's own table has room for it only from 130 columns on.
import { stripVTControlCharacters } from "node:util";
import { duration } from "../base/duration.ts";
import { cut } from "../base/table.ts";
import { partsOf, withoutMarkup } from "../drift/engineEvents.ts";
import type { LiveEvent, StepEvent } from "./followEvents.ts";

interface Running {
  readonly op: string;
  /** Milliseconds, by the caller's clock. */
  readonly since: number;
  /** What its provider last said of it. */
  readonly text?: string;
}

/** A run as its events show it. Time is the caller's, in milliseconds. */
export class RunView {
  private readonly running = new Map<string, Running>();
  private completed = 0;
  private began: number | undefined;
  private askedSince: number | undefined;
  private askedMs = 0;

  apply(events: readonly LiveEvent[], now: number): void {
    for (const event of events) this.applyOne(event, now);
  }

  /** The user has answered, and the update begins. */
  answered(now: number): void {
    if (this.askedSince !== undefined) this.askedMs += now - this.askedSince;
    this.askedSince = undefined;
  }

  /** Whether it changes something at present: neither previews, nor asks, nor has ended. */
  get isUpdating(): boolean {
    return this.began !== undefined;
  }

  /** Milliseconds that its user took to answer. */
  asked(now: number): number {
    return this.askedMs + (this.askedSince === undefined ? 0 : now - this.askedSince);
  }

  /** How far it is, then what it waits for and where: three lines, which may be empty. */
  lines(now: number, width: number): readonly string[] {
    const seconds = (since: number) => duration((now - since) / 1000);
    const shown = this.mostImportant();
    const head = `${this.completed} done, ${this.running.size} in progress, ${seconds(this.began ?? now)}`;
    if (shown === undefined) return [cut(head, width), "", ""];
    const [urn, { op, since, text }] = shown;
    const what = isGate(urn) ? kindOf(urn) : `${verbs[op] ?? op} ${kindOf(urn)} ${partsOf(urn).name}`;
    const [first, second] = wrapped(`${what}, ${seconds(since)}${text === undefined ? "" : `: ${text}`}`, width);
    return [cut(head, width), first, cut(second, width)];
  }

  private applyOne(event: LiveEvent, now: number): void {
    const {
      resourcePreEvent: begins,
      resOutputsEvent: done,
      resOpFailedEvent: failed,
      summaryEvent,
      diagnosticEvent,
    } = event;
    if (begins !== undefined && !begins.planning) this.begin(begins, now);
    if (done !== undefined && !done.planning) this.end(done, 1);
    if (failed !== undefined) this.end(failed, 0);
    if (diagnosticEvent?.urn) this.say(diagnosticEvent.urn, diagnosticEvent.message);
    if (summaryEvent === undefined) return;
    this.running.clear();
    this.began = undefined;
    if (summaryEvent.isPreview) this.askedSince = now;
  }

  private begin({ metadata: { op, urn } }: StepEvent, now: number): void {
    this.began ??= now;
    if (op !== "same" && !/::pulumi:(pulumi:Stack|providers:[\w-]+)::/.test(urn))
      this.running.set(urn, { op, since: now });
  }

  private end({ metadata: { urn } }: StepEvent, completed: number): void {
    if (this.running.delete(urn)) this.completed += completed;
  }

  private say(urn: string, message: string): void {
    const running = this.running.get(urn);
    const [text = ""] = stripVTControlCharacters(withoutMarkup(message)).trim().split("\n");
    if (running !== undefined && text !== "") this.running.set(urn, { ...running, text });
  }

  /** A gate before others; else what has something to say; else what takes longest. A component only waits for its children. */
  private mostImportant(): [string, Running] | undefined {
    const rank = ([urn, { text }]: [string, Running]) =>
      Number(isGate(urn)) * 4 + Number(text !== undefined) * 2 + Number(!isComponent(urn));
    return [...this.running].toSorted((a, b) => rank(b) - rank(a) || a[1].since - b[1].since)[0];
  }
}

/** A text in two parts, of which the first fits, and ends with a word where it can. */
function wrapped(text: string, width: number): readonly [string, string] {
  if (text.length <= width) return [text, ""];
  const blank = text.lastIndexOf(" ", width);
  const end = blank > width / 2 ? blank : width;
  return [text.slice(0, end), `  ${text.slice(end).trimStart()}`];
}

const verbs: Readonly<Record<string, string>> = {
  create: "creating",
  "create-replacement": "creating",
  update: "updating",
  delete: "deleting",
  "delete-replaced": "deleting",
  refresh: "reading",
  read: "reading",
};

function isGate(urn: string): boolean {
  return partsOf(urn).type.startsWith("pulumi-nodejs:dynamic/gates:");
}

function isComponent(urn: string): boolean {
  return partsOf(urn).type.startsWith("sluice:");
}

/** `hcloud:index/server:Server` is a Server. */
function kindOf(urn: string): string {
  return partsOf(urn).type.split(":").at(-1) ?? "";
}
