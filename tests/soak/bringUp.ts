// One cluster of a soak, from nothing: `npm run up` as a user types it, until it succeeds, what other tools say of it then, and `npm run destroy`.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";
import type { Ended } from "../../scripts/base/run.ts";
import { labCharts } from "../../scripts/lab/labFolders.ts";
import type { SoakCase } from "../../scripts/tools/soak/cases.ts";
import { added, orphans, secondBootstraps } from "../../scripts/tools/soak/claims.ts";
import type { SoakResult } from "../../scripts/tools/soak/table.ts";
import { BenchLab } from "../lab/support/benchLab.ts";
import { environment, type Platform } from "../lab/support/chainEnvironment.ts";
import type { InLab } from "../lab/support/cloud.ts";
import { Workbench } from "../support/cli.ts";
import { inventories } from "./inventory.ts";
import { type Killed, Killer } from "./killer.ts";
import { untrueOf } from "./verification.ts";

/** Runs of the same command until a cluster counts as lost. */
const mostTries = 4;

/** For one command, however often it resumes: one that takes longer hangs. */
const timeout = 30 * 60_000;

type Command = "up" | "destroy";

export interface BroughtUp extends Omit<SoakResult, "seed"> {
  /** What ended each command that failed. */
  readonly errors: readonly string[];
  /** The end of what the last printed, if it failed. */
  readonly output: string;
}

export async function bringUp(soak: SoakCase): Promise<BroughtUp> {
  const bench = new Workbench({ fresh: false });
  const lab = new BenchLab(bench, labOf(soak));
  try {
    return await new BringUp(soak, bench, lab).run();
  } finally {
    await lab.down();
    bench.remove();
  }
}

/** A lab has what all environments on a lab of its name need. */
function labOf({ seed }: SoakCase): string {
  return `soak-${seed}`;
}

class BringUp {
  private readonly soak: SoakCase;
  private readonly bench: Workbench;
  private readonly lab: BenchLab;
  private readonly name: string;
  private readonly typed: { readonly command: Command; readonly ended: Ended; readonly seconds: number }[] = [];
  private readonly inLab: InLab = { said: (program, args = []) => this.lab.said(program, ...args) };

  constructor(soak: SoakCase, bench: Workbench, lab: BenchLab) {
    this.soak = soak;
    this.bench = bench;
    this.lab = lab;
    this.name = bench.addSettings(`soak-${soak.seed}`, environmentOf(soak));
  }

  async run(): Promise<BroughtUp> {
    const { soak } = this;
    await this.startLab();
    const inventory = () => inventories[soak.platform as Platform](this.inLab);
    const before = await inventory();

    const victim = await this.firstUp();
    const next = victim === undefined ? "up" : (soak.kill?.next ?? "up");
    // A run that was killed does not count.
    const commands = await this.until(next, victim === undefined ? this.typed.length : 0);
    const seconds = this.seconds();
    // Faults that have not happened yet would affect the verification.
    await this.lab.endFaults();

    const isUp = commands > 0 && next === "up";
    const untrue = isUp ? await this.untrue() : [];
    const lost = isUp ? orphans(before, await inventory(), this.idsInState()) : [];
    const output = commands > 0 ? "" : endOf(this.typed.at(-1)?.ended);
    const errors = this.errors();
    const left = [...(await this.destroyed()), ...added(before, await inventory())];
    return {
      ...{ commands, seconds, errors, output, untrue },
      ...(victim !== undefined && { victim: victim.program, during: victim.during, next }),
      resumed: this.resumed(),
      isHung: this.typed.some(({ ended }) => ended.code === 143),
      lost: [...lost.map((item) => `not in the state: ${item}`), ...left.map((item) => `left after destroy: ${item}`)],
    };
  }

  private async startLab(): Promise<void> {
    const { seed, faults } = this.soak;
    const scenario = join(this.bench.folder, "scenario.yaml");
    writeFileSync(scenario, stringify(faults));
    await this.lab.start("--seed", `${seed}`, ...(faults.length > 0 ? ["--scenario", scenario] : []));
  }

  private async type(command: Command, onOutput?: (text: string) => void): Promise<Ended> {
    const began = performance.now();
    const ended = await this.bench.npmWith({ timeout, onOutput }, command, this.name, "--yes", "--skip-preview");
    this.typed.push({ command, ended, seconds: (performance.now() - began) / 1000 });
    return ended;
  }

  /** Returns what was killed. */
  private async firstUp(): Promise<Killed | undefined> {
    const { kill } = this.soak;
    if (kill === undefined) return undefined;
    const killer = new Killer(kill, this.bench.work);
    await this.type("up", (text) => killer.hear(text));
    killer.end();
    return killer.victim;
  }

  /** Types a command until it succeeds, and returns how often, with those of before; 0 if it never does. An `up` that survived a kill counts as one. */
  private async until(command: Command, tried: number): Promise<number> {
    const [first] = this.typed;
    if (first !== undefined && command === "up" && first.ended.code === 0) return 1;
    for (let times = tried + 1; times <= mostTries; times += 1) {
      if ((await this.type(command)).code === 0) return times;
    }
    return 0;
  }

  private async untrue(): Promise<readonly string[]> {
    return [...(await untrueOf(this.soak, this.inLab)), ...secondBootstraps(this.lab.facts.all)];
  }

  /** All of the state, as the engine keeps it. */
  private idsInState(): ReadonlySet<string> {
    const { checkpoint } = JSON.parse(readFileSync(this.bench.stateFile(this.name), "utf8"));
    const resources: readonly { readonly id?: string }[] = checkpoint.latest.resources;
    return new Set(resources.flatMap(({ id }) => (id === undefined ? [] : [id])));
  }

  /** Why it could not be destroyed: no fault is in the way any more. */
  private async destroyed(): Promise<readonly string[]> {
    const ended = await this.type("destroy");
    return ended.code === 0 ? [] : [`everything, as destroy fails: ${errorOf(ended)}`];
  }

  private seconds(): number {
    return Math.round(this.typed.reduce((sum, { seconds }) => sum + seconds, 0));
  }

  private resumed(): number {
    return this.typed.reduce((sum, { ended }) => sum + [...ended.stderr.matchAll(/resuming in /g)].length, 0);
  }

  private errors(): readonly string[] {
    return this.typed.flatMap(({ ended }) => (ended.code === 0 ? [] : [errorOf(ended)]));
  }
}

/** The environment's file. */
function environmentOf(soak: SoakCase): string {
  const { platform, controlPlanes, workers, talos } = soak;
  const config = {
    ...environment({ platform: platform as Platform, controlPlanes, workers, talos }),
    // By this path the command recognizes the charts that it copies there.
    charts: { path: labCharts },
    lab: { name: labOf(soak) },
  };
  const keys = Object.entries(config).map(([key, value]) => [`sluice:${key}`, value]);
  return stringify({ config: Object.fromEntries(keys) });
}

function errorOf({ stdout, stderr }: Ended): string {
  return /SLU-\w\d+[^\n]*|error: [^\n]*/.exec(stdout + stderr)?.[0].slice(0, 400) ?? "no error was printed";
}

function endOf(ended: Ended | undefined): string {
  return ended === undefined ? "" : `${ended.stdout.slice(-3_000)}\n${ended.stderr.slice(-2_000)}`;
}
