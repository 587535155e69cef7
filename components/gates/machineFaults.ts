import type { FailureCode } from "../errors/catalogue.ts";
import type { NodeState } from "../talos/client/nodeState.ts";
import { type Disk, type DiskChoice, describeChoice, describeDisk, matchingDisks } from "../talos/installDisk.ts";
import { identityFaults, type MachineTraits } from "../talos/machineTraits.ts";
import type { Verdict } from "./gateDefinition.ts";
import { away, problemOf } from "./nodeAnswers.ts";
import type { GateNode, NodeView } from "./nodeView.ts";

export interface PreflightNode extends GateNode {
  /** Where it is installed to. */
  readonly install: DiskChoice;
}

/** What a machine is, by its own word. */
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
  /** The Talos that its config is made for. */
  readonly talosVersion: string;
}

/** All that can be said of a machine by now; nothing when it can take its config. */
export function machineVerdicts(view: MachineView, talosVersion: string): readonly Verdict[] {
  const { node, state, facts } = view;
  // With a config it goes through its stages, and what it is shows by its certificate in the end.
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
    // What has a config is installed already, and its disks may have changed since.
    ...(state.kind === "maintenance" ? diskFaults(node.install, facts.disks) : []),
  ];
}

/** A Talos reads what is made for its own minor and for earlier ones. */
function versionFaults({ kind, version: running }: Machine["state"], wanted: string): readonly MachineFault[] {
  if (minorOf(running) >= minorOf(wanted)) return [];
  const version = running.replace(/^v/, "") || "of an unknown version";
  const fault = { code: "SLU-T303", reason: `runs Talos ${version}; its config is made for ${wanted}` } as const;
  return [kind === "ours" ? { ...fault, remedy: upgrade } : fault];
}

/** What has its config is part of a cluster, and is not booted from another image. */
const upgrade =
  "`talosctl upgrade` of that node with the image that is in its config (machine.install.image), or set talosVersion to what it runs.";

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
  const there = disks.map(describeDisk).join("; ") || "no disk at all";
  return [{ code: "SLU-T202", reason: `no disk is ${wanted}; there is ${there}` }];
}
