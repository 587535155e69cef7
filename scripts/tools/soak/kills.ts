// A process of a run that is killed at a moment chosen by a seed. The moment is the number of kinds of steps that the engine has started: so every kind is
// met as often as any other, and on a slow machine it is the same place in the run as on a fast one.
import type { Chance } from "./chance.ts";

export interface ChosenKill {
  /** The engine, the process of the dynamic resources, or a plugin. */
  readonly whom: "engine" | "provider" | "plugin";
  /** Which plugin, of those that run at that moment: counted by name, cyclically. */
  readonly which: number;
  /** The number of kinds of steps that the engine has started by then. */
  readonly afterKinds: number;
  /** Milliseconds after that: when the step begins, while it is at work, or at its end. */
  readonly afterMs: number;
  /** The command that is typed afterwards. */
  readonly next: "up" | "destroy";
}

/** The kinds of steps of a run, about: those on existing machines, and those that the API of a platform adds. */
const kinds = { least: 27, ofApi: 13 };

export function chooseKill(chance: Chance, hasApi: boolean): ChosenKill {
  return {
    whom: chance.one<ChosenKill["whom"]>(["engine", "provider", "plugin"]),
    which: chance.between(0, 5),
    afterKinds: chance.between(1, kinds.least + (hasApi ? kinds.ofApi : 0)),
    afterMs: chance.one([0, 0, 100, 400, 1_500]),
    next: chance.one<ChosenKill["next"]>(["up", "destroy"]),
  };
}

/** "plugin 2 killed 0.4 s after step kind 17 began, then destroy" */
export function describeKill({ whom, which, afterKinds, afterMs, next }: ChosenKill): string {
  const process = whom === "plugin" ? `plugin ${which}` : whom;
  const moment = afterMs === 0 ? "when" : `${afterMs / 1_000} s after`;
  return `${process} killed ${moment} step kind ${afterKinds} began, then ${next}`;
}

/** The kinds of steps that the engine has started, and the types of those at work, from its output without a terminal. */
export function stepsIn(output: string): { readonly started: number; readonly atWork: readonly string[] } {
  const started = new Set<string>();
  const atWork = new Map<string, string>();
  const lines = output.matchAll(/^ \S+ +(\S+:\S+) (\S+) \**(\w+ing failed|\w+ing|\w+ed)\b/gm);
  for (const [, type = "", name = "", state = ""] of lines) {
    // The engine's own, and components: these create nothing.
    if (/^(pulumi|sluice):/.test(type)) continue;
    started.add(`${type} ${name.replace(/-(cp|w)-\d+/, "")}`);
    if (state.endsWith("ing")) atWork.set(`${type} ${name}`, type);
    else atWork.delete(`${type} ${name}`);
  }
  return { started: started.size, atWork: [...new Set(atWork.values())] };
}
