// One control plane at a time: all node configurations of a run are in one process, so that they can wait for each other here.

export interface Turn {
  /** With what went wrong, nobody gets a turn any more. */
  end(fault?: string): void;
}

interface Line {
  last: Promise<void>;
  fault: string | undefined;
}

const lines = new Map<string, Line>();

/** Resolves when all turns of this cluster that were asked for before have ended; rejects when one of them went wrong. */
export async function takeTurn(cluster: string): Promise<Turn> {
  const line = lines.get(cluster) ?? { last: Promise.resolve(), fault: undefined };
  lines.set(cluster, line);
  const before = line.last;
  let end: () => void = () => undefined;
  line.last = new Promise((done) => {
    end = done;
  });
  await before;
  if (line.fault !== undefined) {
    end();
    throw new TurnLost(line.fault);
  }
  return {
    end(fault) {
      line.fault ??= fault;
      end();
    },
  };
}

/** A control plane that came before could not be changed, so no other one is touched. */
export class TurnLost extends Error {}
