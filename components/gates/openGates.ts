// Which gates have opened, and which of these are proven: their stability windows have passed. All gates of a run are in one process.
import type { OpenGate } from "./openGate.ts";

/** An opening of a gate, by its id in the state. */
type Opening = string;

/** A gate as the state has it. */
interface Recorded {
  readonly name: string;
  /** Observes it again. */
  readonly observe: () => OpenGate;
}

export class OpenGates {
  /** Openings of this run, and of an earlier one that are being observed again. */
  private readonly open = new Map<Opening, OpenGate>();
  /** Openings that the state has from earlier runs. */
  private readonly recorded = new Map<Opening, Recorded>();
  private readonly proven = new Set<Opening>();

  /** The state has this opening, and nothing about its gate has changed. */
  record(opening: Opening, gate: Recorded): void {
    this.recorded.set(opening, gate);
  }

  /** A later gate has opened, which waited for these. */
  recordProof(openings: readonly Opening[]): void {
    for (const opening of openings) this.proven.add(opening);
  }

  /** Its gate runs again. */
  forget(opening: Opening): void {
    this.recorded.delete(opening);
  }

  add(opening: Opening, gate: OpenGate): void {
    this.open.set(opening, gate);
    gate.proof.then(
      () => this.proven.add(opening),
      () => undefined,
    );
  }

  /**
   * What a gate has to wait for before it opens: the gates below it. An earlier run may have ended before a window had: then its gate is observed again, from
   * now on. Gates above may be recorded already: before the engine replaces a machine, it compares everything that depends on it.
   */
  unproven(isBelow: (gate: string) => boolean): ReadonlyMap<Opening, OpenGate> {
    for (const [opening, { name, observe }] of this.recorded) {
      if (!isBelow(name)) continue;
      this.recorded.delete(opening);
      if (!this.proven.has(opening)) this.add(opening, observe());
    }
    return new Map([...this.open].filter(([opening, { name }]) => isBelow(name) && !this.proven.has(opening)));
  }
}

/** Those of this process. */
export const openGates = new OpenGates();

/** Waits until these are proven. Returns the seconds that this took. */
export async function proveAll(
  gates: ReadonlyMap<Opening, OpenGate>,
  report: (text: string) => void,
  now: () => number,
): Promise<number> {
  const began = now();
  await Promise.all([...gates.values()].map((gate) => gate.prove(report)));
  return (now() - began) / 1000;
}
