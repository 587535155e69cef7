import type { FailureCode } from "../../errors/catalogue.ts";
import { identityFaults, type MachineTraits } from "../../talos/access/machineTraits.ts";
import type { NodeState } from "../../talos/client/nodeState.ts";
import {
  type Disk,
  type DiskChoice,
  describeChoice,
  describeDisk,
  machineDisks,
  matchingDisks,
} from "../../talos/config/installDisk.ts";
import type { Verdict } from "../../waiting/condition.ts";
import { away, problemOf } from "./nodeAnswers.ts";
import type { GateNode, NodeView } from "./nodeView.ts";

export interface PreflightNode extends GateNode {
  /** Its install disk. */
  readonly install: DiskChoice;
}

/** What a machine reports of itself. */
export interface MachineFacts extends MachineTraits {
  readonly disks: readonly Disk[];
}

export type MachineView = NodeView<MachineFacts, PreflightNode>;

interface MachineFault {
  readonly code: FailureCode;
  readonly reason: string;
  readonly remedy?: string;
}

interface Machine {
  readonly facts: MachineFacts;
  readonly state: Exclude<NodeState, { kind: "foreign" | "invalid" | "unreachable" }>;
  /** The Talos version that its config is made for. */
  readonly talosVersion: string;
}

/** All known faults of a machine; none if it can take its config. */
export function machineVerdicts(view: MachineView, talosVersion: string): readonly Verdict[] {
  const { node, state, facts } = view;
  // A machine that has a config passes through its stages; its certificate finally shows whose it is.
  const isUp =
    state?.kind === "maintenance" ||
    state?.kind === "ours" ||
    (state?.kind === "settling" && state.stage === "running");
  if (!isUp) return [away(view)];
  if (facts === undefined) return problemOf(view);
  const faults = machineFaults(node, { facts, talosVersion, state });
  return faults.map((fault) => ({ kind: "failed", where: node.name, ...fault }));
}

function machineFaults(node: PreflightNode, { facts, state, talosVersion }: Machine): readonly MachineFault[] {
  return [
    ...identityFaults(node, facts).map((reason): MachineFault => ({ code: "SLU-T302", reason })),
    ...versionFaults(state, talosVersion),
    // A machine with a config is already installed, and its disks may have changed since.
    ...(state.kind === "maintenance" ? diskFaults(node.install, facts.disks) : []),
  ];
}

/** Talos reads configs made for its own minor version and for earlier ones. A machine that has its config is upgraded before it gets another one. */
function versionFaults({ kind, version: running }: Machine["state"], wanted: string): readonly MachineFault[] {
  if (kind !== "maintenance" || minorOf(running) >= minorOf(wanted)) return [];
  const version = running.replace(/^v/, "") || "of an unknown version";
  return [{ code: "SLU-T303", reason: `runs Talos ${version}; its config is made for ${wanted}` }];
}

function minorOf(version: string): number {
  return Number(/^v?1\.(\d+)\./.exec(version)?.[1] ?? 0);
}

function diskFaults(install: DiskChoice, disks: readonly Disk[]): readonly MachineFault[] {
  const matching = matchingDisks(install, disks);
  if (matching.length === 1) return [];
  const wanted = describeChoice(install);
  if (matching.length > 1) {
    const reason = `${wanted} matches ${matching.length} disks: ${matching.map(describeDisk).join("; ")}`;
    return [{ code: "SLU-T304", reason }];
  }
  const there = machineDisks(disks).map(describeDisk).join("; ") || "no disk at all";
  return [{ code: "SLU-T202", reason: `no disk is ${wanted}; there is ${there}` }];
}
