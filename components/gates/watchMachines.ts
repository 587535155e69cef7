// What Preflight looks at: every machine, and whether those that do not answer have had their time.
import { resources } from "../talos/client/resources.ts";
import type { Disk } from "../talos/installDisk.ts";
import { readTraits } from "../talos/machineTraits.ts";
import type { Clock } from "./clock.ts";
import { type MachineFacts, type MachineView, machineVerdicts, type PreflightNode } from "./machineFaults.ts";
import type { Reading, TalosGateInputs } from "./nodeView.ts";
import { together } from "./together.ts";
import { watchNodes } from "./watchNodes.ts";

export interface PreflightInputs extends TalosGateInputs<PreflightNode> {
  /** The Talos that the configs are made for. */
  readonly talosVersion: string;
}

export interface MachinesLook {
  readonly views: readonly MachineView[];
  /** Whether it is so long since the first fault that who does not answer is in the same report. */
  readonly isLate: boolean;
}

/** Milliseconds from the first fault of a machine until others that do not answer are no longer waited for: about as long as one boots. */
const grace = 20_000;

export function watchMachines(
  inputs: PreflightInputs,
  signal: AbortSignal,
  clock: Clock,
  watch: (signal: AbortSignal) => AsyncIterable<readonly MachineView[]> = () =>
    watchNodes(inputs, reading, signal, clock),
): AsyncGenerator<MachinesLook> {
  const work = async (see: (part: Partial<MachinesLook>) => void) => {
    let takeBack: (() => void) | undefined;
    signal.addEventListener("abort", () => takeBack?.());
    for await (const views of watch(signal)) {
      see({ views });
      const verdicts = views.flatMap((view) => machineVerdicts(view, inputs.talosVersion));
      if (verdicts.some(({ kind }) => kind === "failed")) {
        takeBack ??= clock.after(grace, () => see({ isLate: true }));
      }
    }
  };
  return together<MachinesLook>({ views: [], isLate: false }, [work], signal);
}

const reading: Reading<MachineFacts> = {
  follow: [resources.disks, resources.links],
  every: 5_000,
  read: async (client, options) => {
    const [disks, traits] = await Promise.all([client.list(resources.disks, options), readTraits(client, options)]);
    return { ...traits, disks: disks.map(({ spec }) => spec as Disk) };
  },
};
