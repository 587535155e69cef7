// Judges what a node runs after it was to boot another system.
import { type RunningTalos, talosFaults, type WantedTalos } from "../../talos/config/wantedTalos.ts";
import type { SystemLook } from "./systemLook.ts";

export type BootVerdict =
  | { readonly kind: "up" }
  | { readonly kind: "waiting"; readonly why: string }
  /** It runs again what it ran before. */
  | { readonly kind: "returned" }
  /** It runs something else. */
  | { readonly kind: "other"; readonly runs: string };

export interface BootExpectation {
  /** What it ran. */
  readonly before: SystemLook;
  readonly wanted: WantedTalos;
  /** The schematic of the image that its machine was made from, which is equivalent to the wanted one. */
  readonly own?: string | undefined;
}

/** Whether a node runs this Talos, whatever its stage. */
export function runsWanted(running: Omit<RunningTalos, "stage">, wanted: WantedTalos, own?: string): boolean {
  return talosFaults({ ...running, stage: "running" }, wanted, own).length === 0;
}

/** "Talos 1.13.8", with the schematic if only that distinguishes it. */
export function systemName({ version, schematic }: Pick<RunningTalos, "version" | "schematic">): string {
  return `Talos ${version}${schematic === "" ? "" : ` with schematic ${schematic.slice(0, 8)}`}`;
}

export function judgeBoot(now: SystemLook, { before, wanted, own }: BootExpectation): BootVerdict {
  if (now.bootId === before.bootId) return { kind: "waiting", why: `has not rebooted yet, stage ${now.stage}` };
  if (runsWanted(now, wanted, own)) return judgeNew(now, before);
  if (now.version === before.version && now.version !== wanted.version) return { kind: "returned" };
  // A node reports its schematic a moment after its version.
  if (now.stage !== "running") return { kind: "waiting", why: `boots ${systemName(now)}, stage ${now.stage}` };
  const isSame = now.version === before.version && now.schematic === before.schematic;
  return isSame ? { kind: "returned" } : { kind: "other", runs: systemName(now) };
}

/** Until it is ready, and has confirmed that for itself, a failure returns it to its previous system. */
function judgeNew(now: SystemLook, before: SystemLook): BootVerdict {
  const unmet = now.unmet.length === 0 ? "" : ` (${now.unmet.join("; ")})`;
  if (now.stage !== before.stage && now.stage !== "running") {
    return { kind: "waiting", why: `runs ${systemName(now)}, stage ${now.stage}${unmet}` };
  }
  if (before.isReady && !now.isReady) return { kind: "waiting", why: `runs ${systemName(now)}, not ready${unmet}` };
  if (before.isReady && now.isOnTrial) return { kind: "waiting", why: "has not confirmed its new system yet" };
  return { kind: "up" };
}
