// The event log of an engine, written by hand.
import type { Attempt } from "../../../scripts/resume/resumedUp.ts";

export const urn = (type: string, name: string) => `urn:pulumi:test::sluice::sluice:a:Parent$${type}::${name}`;
export const server = urn("hcloud:index/server:Server", "test-cp-1");
export const gate = (name: string) => urn(`pulumi-nodejs:dynamic/gates:${name}`, "test-gate");

/** A line of the log, at a moment in milliseconds. */
export function line(at: number, event: object) {
  return { at, text: JSON.stringify(event) };
}

type Metadata = Readonly<Record<string, unknown>>;

export const begins = (at: number, urn: string, more: Metadata = {}) =>
  line(at, { resourcePreEvent: { metadata: { op: "create", urn, new: { custom: true }, ...more } } });
export const ends = (at: number, urn: string) => line(at, { resOutputsEvent: { metadata: { op: "create", urn } } });
export const fails = (at: number, urn: string) => line(at, { resOpFailedEvent: { metadata: { op: "create", urn } } });
export const says = (at: number, urn: string, message: string, severity = "info") =>
  line(at, { diagnosticEvent: { urn, message, severity } });

export function attempt(began: number, ended: number, lines: Attempt["lines"]): Attempt {
  return { began, ended, lines };
}
