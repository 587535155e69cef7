// Holds a lock again and again, from a process of its own, and notes in a file when it comes and goes.
import { appendFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { withLock } from "../../../scripts/toolchain/lock.ts";

const [folder = "", notes = "", times = "1"] = process.argv.slice(2);
const quick = { poll: 5, heartbeat: 1_000, staleAfter: 60_000 };

for (let turn = 0; turn < Number(times); turn++) {
  await withLock(
    folder,
    () => undefined,
    async () => {
      appendFileSync(notes, `${process.pid} in\n`);
      await sleep(turn % 3);
      appendFileSync(notes, `${process.pid} out\n`);
    },
    quick,
  );
}
