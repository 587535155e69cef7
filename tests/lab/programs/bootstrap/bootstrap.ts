// Bootstraps a cluster as the resource does, without an engine: reads the inputs as JSON, and prints how it ended.
import { text } from "node:stream/consumers";
import { realAccess } from "../../../../components/talos/access/nodeAccess.ts";
import { operations } from "../../../../components/talos/nodes/bootstrap.provider.ts";
import { systemClock } from "../../../../components/waiting/clock.ts";

const said: string[] = [];
const began = performance.now();
const failure = await operations
  .create(JSON.parse(await text(process.stdin)), {
    access: realAccess,
    clock: systemClock,
    random: Math.random,
    report: (line) => void said.push(line),
    note: async () => undefined,
  })
  .then(
    () => undefined,
    ({ message }: Error) => message,
  );
process.stdout.write(JSON.stringify({ failure, seconds: (performance.now() - began) / 1000, said }));
