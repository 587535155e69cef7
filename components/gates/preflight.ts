import { resources } from "../talos/client/resources.ts";
import type { Disk } from "../talos/installDisk.ts";
import { readTraits } from "../talos/machineTraits.ts";
import type { Condition, GateDefinition, Verdict } from "./gateDefinition.ts";
import { type MachineFacts, machineFaults, type PreflightNode } from "./machineFaults.ts";
import { away, problemOf } from "./nodeAnswers.ts";
import { type NodeView, type Reading, type TalosGateInputs, watchNodes } from "./watchNodes.ts";

export interface PreflightInputs extends TalosGateInputs<PreflightNode> {
  /** The Talos that the configs are made for. */
  readonly talosVersion: string;
}

type View = NodeView<MachineFacts, PreflightNode>;
type Observation = readonly View[];

/** Before the first node is changed every machine is there, is the one meant, and can take its config (S1.1). */
export const preflight: GateDefinition<PreflightInputs, Observation> = {
  name: "Preflight",
  timeoutCode: "SLU-T301",
  conditions: ({ talosVersion }) => [everyMachineFit(talosVersion)],
  observe: (inputs, signal, clock) => watchNodes(inputs, reading, signal, clock),
  evidence: (views) => ({ machines: Object.fromEntries(views.map(({ node, facts }) => [node.name, facts?.uuid])) }),
};

const reading: Reading<MachineFacts> = {
  follow: [resources.disks, resources.links],
  every: 5_000,
  read: async (client, options) => {
    const [disks, traits] = await Promise.all([client.list(resources.disks, options), readTraits(client, options)]);
    return { ...traits, disks: disks.map(({ spec }) => spec as Disk) };
  },
};

/** How often a machine that does not answer is tried before its silence is in a report of other faults. */
const enoughTries = 3;

/**
 * One condition for all, and nothing has failed before every machine answered or was tried often enough: so that one report has all faults of all
 * machines. Only a machine that does not answer may still come, so where nothing else is wrong it is waited for.
 */
function everyMachineFit(talosVersion: string): Condition<Observation> {
  return {
    phrase: "every machine to be there, to be the one meant, and to be able to take its config",
    evaluate(views) {
      const verdicts = views.flatMap((view) => verdictsOf(view, talosVersion));
      const isSettled = views.every(({ facts, problem, tries }) => facts ?? problem ?? tries >= enoughTries);
      if (!isSettled) return verdicts.map(soon);
      return verdicts.some(({ kind }) => kind === "failed") ? verdicts.map(failed) : verdicts;
    },
  };
}

function verdictsOf(view: View, talosVersion: string): readonly Verdict[] {
  const { node, state, facts } = view;
  // With a config it goes through its stages, and what it is shows by its certificate in the end.
  const isUp =
    state?.kind === "maintenance" ||
    state?.kind === "ours" ||
    (state?.kind === "settling" && state.stage === "running");
  if (!isUp) return [away(view)];
  if (facts === undefined) return problemOf(view);
  return machineFaults(node, { facts, talosVersion, state }).map((fault) => ({
    kind: "failed",
    where: node.name,
    ...fault,
  }));
}

function soon(verdict: Verdict): Verdict {
  if (verdict.kind !== "failed") return verdict;
  const { where, reason } = verdict;
  return { kind: "pending", reason, ...(where !== undefined && { where }) };
}

function failed(verdict: Verdict): Verdict {
  if (verdict.kind !== "pending") return verdict;
  return {
    ...verdict,
    kind: "failed",
    code: verdict.code ?? "SLU-T101",
    reason: `${verdict.reason} (${enoughTries} tries)`,
  };
}
