// The observations of Preflight: every machine, and whether the time for those that do not answer is up.

import { readTraits } from "../../talos/access/machineTraits.ts";
import { resources } from "../../talos/client/resources.ts";
import type { Disk } from "../../talos/config/installDisk.ts";
import type { Clock } from "../../waiting/clock.ts";
import { mergeObservations } from "../../waiting/mergeObservations.ts";
import { type MachineFacts, type MachineView, machineVerdicts, type PreflightNode } from "./machineFaults.ts";
import type { Reading, TalosGateInputs } from "./nodeView.ts";
import { watchNodes } from "./watchNodes.ts";

export interface PreflightInputs extends TalosGateInputs<PreflightNode> {
  /** The Talos version that the configs are made for. */
  readonly talosVersion: string;
}

export interface MachinesObservation {
  readonly views: readonly MachineView[];
  /** Whether enough time has passed since the first fault that silent machines are reported with it. */
  readonly isLate: boolean;
}

/** Milliseconds from the first fault of a machine until the gate no longer waits for machines that do not answer: about as long as a boot takes. */
const graceMs = 20_000;

export function watchMachines(
  inputs: PreflightInputs,
  signal: AbortSignal,
  clock: Clock,
  watch: (signal: AbortSignal) => AsyncIterable<readonly MachineView[]> = () =>
    watchNodes(inputs, reading, signal, clock),
): AsyncGenerator<MachinesObservation> {
  const work = async (see: (part: Partial<MachinesObservation>) => void) => {
    let cancel: (() => void) | undefined;
    signal.addEventListener("abort", () => cancel?.());
    for await (const views of watch(signal)) {
      see({ views });
      const verdicts = views.flatMap((view) => machineVerdicts(view, inputs.talosVersion));
      if (verdicts.some(({ kind }) => kind === "failed")) {
        cancel ??= clock.after(graceMs, () => see({ isLate: true }));
      }
    }
  };
  return mergeObservations<MachinesObservation>({ views: [], isLate: false }, [work], signal);
}

const reading: Reading<MachineFacts> = {
  follow: [resources.disks, resources.links],
  intervalMs: 5_000,
  read: async (client, options) => {
    const [disks, traits] = await Promise.all([client.list(resources.disks, options), readTraits(client, options)]);
    return { ...traits, disks: disks.map(({ spec }) => spec as Disk) };
  },
};
