// What `npm run status` prints of nodes: a table for a terminal of 80 characters, and below it what is not as it should be.
import type { Role } from "../../components/model/role.ts";
import { type Column, table } from "../base/table.ts";

/** A node as it was found. Empty is what is not known, or what a node of its kind does not have. */
export interface NodeReport {
  readonly name: string;
  readonly role: Role;
  readonly reachable: "yes" | "no";
  /** Talos' own: "running". */
  readonly stage: string;
  readonly version: string;
  readonly schematic: string;
  readonly config: "in sync" | "differs" | "";
  readonly etcd: "voter" | "learner" | "none" | "";
  readonly ready: "yes" | "no" | "";
  /** Why something is not as it should be, a line each. */
  readonly remarks: readonly string[];
}

export const exitCodes = { healthy: 0, unknown: 1, unhealthy: 2 } as const;

const columns: readonly Column[] = [
  { title: "Node", gives: true },
  ...["Reached", "Stage", "Talos", "Schematic", "Config", "etcd", "Ready"].map((title) => ({ title })),
];
const widthOfTerminal = 80;

/** The first letters are enough to distinguish schematics. */
const schematicLetters = 8;

export function statusLines(reports: readonly NodeReport[]): readonly string[] {
  const rows = reports.map(({ name, reachable, stage, version, schematic, config, etcd, ready }) =>
    [name, reachable, stage, version, schematic.slice(0, schematicLetters), config, etcd, ready].map(
      (cell) => cell || "-",
    ),
  );
  const remarks = reports.flatMap(({ name, remarks: own }) => own.map((remark) => `${name}: ${remark}`));
  return [...table(columns, rows, "", widthOfTerminal), ...(remarks.length === 0 ? [] : ["", ...remarks])];
}

/** Whether everything that is known of a node by itself is as it should be. */
export function isHealthy({ role, reachable, stage, config, etcd, ready, remarks }: NodeReport): boolean {
  const isMember = role === "worker" || etcd === "voter";
  return (
    reachable === "yes" &&
    stage === "running" &&
    config === "in sync" &&
    isMember &&
    ready === "yes" &&
    remarks.length === 0
  );
}
