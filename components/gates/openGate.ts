import { traced } from "../trace/trace.ts";
import type { Clock } from "./clock.ts";
import type { GateOutputs, GateProperties } from "./gateProperties.ts";
import { passGate } from "./passGate.ts";
import { engineRow, Progress } from "./progress.ts";

/** Waits at a gate, tells the row how it goes, and throws when it does not open. */
export async function openGate(
  properties: GateProperties,
  clock: Clock,
  interrupted?: AbortSignal,
): Promise<GateOutputs> {
  const row = engineRow(properties.row);
  const progress = new Progress(row.send, clock);
  try {
    const { evidence, remarks, seconds } = await traced(properties.row, clock, (onWait) =>
      passGate(properties, { clock, interrupted, onWait, onProgress: (text) => progress.show(text) }),
    );
    const waited = Math.round(seconds * 10) / 10;
    progress.end();
    await row.send(`open after ${waited} s`);
    for (const remark of remarks) await row.note(remark, "warning");
    return { ...properties, evidence, waited, drift: [] };
  } finally {
    progress.end();
    row.close();
  }
}
