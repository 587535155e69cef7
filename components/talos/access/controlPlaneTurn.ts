// Changes one control plane at a time: all node configurations of a run are in one process, so they can wait for each other here.

export interface Turn {
  /** Ends the turn. With a reason for failure, no further turn is granted. */
  end(fault?: string): void;
}

interface Line {
  last: Promise<void>;
  fault: string | undefined;
}

const lines = new Map<string, Line>();

/** Resolves when all earlier turns of this cluster have ended; rejects if one of them failed. */
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

/** An earlier control plane could not be changed, so no other one is touched. */
export class TurnLost extends Error {}
