import type { Condition, GateDefinition, Verdict } from "./gateDefinition.ts";
import { type MachineView, machineVerdicts } from "./machineFaults.ts";
import { type MachinesLook, type PreflightInputs, watchMachines } from "./watchMachines.ts";

/** Before the first node is changed every machine is there, is the one meant, and can take its config (S1.1). */
export const preflight: GateDefinition<PreflightInputs, MachinesLook> = {
  name: "Preflight",
  timeoutCode: "SLU-T301",
  conditions: ({ talosVersion }) => [everyMachineFit(talosVersion)],
  observe: watchMachines,
  evidence: ({ views }) => ({
    machines: Object.fromEntries(views.map(({ node, facts }) => [node.name, facts?.uuid])),
  }),
};

/**
 * One condition for all, and nothing has failed before every machine answered or had its time: so that one report has all faults of all machines.
 * Only a machine that does not answer may still come, so where nothing else is wrong it is waited for.
 */
function everyMachineFit(talosVersion: string): Condition<MachinesLook> {
  return {
    phrase: "every machine to be there, to be the one meant, and to be able to take its config",
    evaluate({ views, isLate }) {
      const told = views.map((view) => ({ view, verdicts: machineVerdicts(view, talosVersion) }));
      const hasFailed = told.some(({ verdicts }) => verdicts.some(({ kind }) => kind === "failed"));
      const isSettled = isLate || told.every(({ view, verdicts }) => view.problem ?? verdicts.every(isFinal));
      if (!isSettled) return told.flatMap(({ verdicts }) => verdicts.map(soon));
      return told.flatMap(({ view, verdicts }) => (hasFailed ? verdicts.map((one) => tried(view, one)) : verdicts));
    },
  };
}

const isFinal = ({ kind }: Verdict) => kind !== "pending";

function soon(verdict: Verdict): Verdict {
  if (verdict.kind !== "failed") return verdict;
  const { where, reason, code } = verdict;
  return { kind: "pending", reason, code, ...(where !== undefined && { where }) };
}

/** Of a machine that is not there the report says so as of the other faults; one that answers, with whatever, is no such machine. */
function tried({ state, tries }: MachineView, verdict: Verdict): Verdict {
  if (verdict.kind !== "pending" || state?.kind !== "unreachable") return verdict;
  const { code = "SLU-T101", reason } = verdict;
  return { ...verdict, kind: "failed", code, reason: `${reason} (${tries} tries)` };
}
