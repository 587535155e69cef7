// Holds a lock several times, from a separate process, and records in a file when it gets and releases it.
import { appendFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { withLock } from "../../../scripts/toolchain/lock.ts";

const [file = "", notes = "", times = "1"] = process.argv.slice(2);

for (let turn = 0; turn < Number(times); turn++) {
  const work = async () => {
    appendFileSync(notes, `${process.pid} in\n`);
    await sleep(turn % 3);
    appendFileSync(notes, `${process.pid} out\n`);
  };
  await withLock(file, () => undefined, work, 5);
}
