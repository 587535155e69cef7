import type { Condition, Verdict } from "../waiting/condition.ts";
import type { ClusterFacts } from "./clusterFacts.ts";
import { keys, many } from "./evidenceWords.ts";
import type { GateDefinition } from "./gateDefinition.ts";
import { lazily } from "./lazily.ts";
import { type MachineView, machineVerdicts } from "./talos/machineFaults.ts";
import type { MachinesObservation, PreflightInputs } from "./talos/watchMachines.ts";

type Facts = Pick<ClusterFacts, "talosVersion" | "nodesToInstall" | "talos" | "machineIds">;

/** Before the first node is changed, every machine answers, is the expected one, and can take its config (S1.1). */
export const preflight: GateDefinition<PreflightInputs, MachinesObservation, Facts> = {
  name: "Preflight",
  timeoutCode: "SLU-T301",
  resource: "preflight",
  proves: "every machine answers and is the expected one",
  opensWhen:
    "every machine answers (polled without end; once one has a fault, the others have 20 s), is the expected one (MAC, UUID), has exactly one disk that matches its config, and runs a Talos that can read the config. All faults of all machines in one report, before the first is changed",
  timeout: { key: "preflight", seconds: 60 },
  canFlap: false,
  inputs: ({ nodesToInstall, talosVersion }) => ({ nodes: nodesToInstall, talosVersion }),
  credentials: ({ talos }) => talos,
  triggers: ({ machineIds }) => machineIds,
  conditions: ({ talosVersion }) => [everyMachineFit(talosVersion)],
  observe: (inputs, signal, clock) =>
    lazily(async () => (await import("./talos/watchMachines.ts")).watchMachines(inputs, signal, clock)),
  evidence: ({ views }) => ({
    machines: Object.fromEntries(views.map(({ node, facts }) => [node.name, facts?.uuid])),
  }),
  words: ({ machines }) => `${many(keys(machines), "machine")}, identities verified`,
};

/**
 * One condition for all machines. It fails only when every machine has answered or its time is up, so that one report has all faults of all machines.
 * A machine that does not answer may still come up: if nothing else is wrong, the gate waits for it.
 */
function everyMachineFit(talosVersion: string): Condition<MachinesObservation> {
  return {
    phrase: "every machine to answer, to be the expected one, and to be able to take its config",
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

/** In the final report a machine that does not answer is one of the faults; one that answers in any way is not. */
function tried({ state, tries }: MachineView, verdict: Verdict): Verdict {
  if (verdict.kind !== "pending" || state?.kind !== "unreachable") return verdict;
  const { code = "SLU-T101", reason } = verdict;
  return { ...verdict, kind: "failed", code, reason: `${reason} (${tries} tries)` };
}
