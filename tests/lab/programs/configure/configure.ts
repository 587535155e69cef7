// Brings one node to a config as the resource does, without an engine: what it is to be comes in as JSON, and what was done goes out.
import { text } from "node:stream/consumers";
import { systemClock } from "../../../../components/gates/clock.ts";
import { configureNode } from "../../../../components/talos/configureNode.ts";
import { realAccess } from "../../../../components/talos/nodeAccess.ts";

const said: string[] = [];
const began = performance.now();
const configured = await configureNode(JSON.parse(await text(process.stdin)), {
  access: realAccess,
  clock: systemClock,
  chance: () => 0,
  report: (line) => void said.push(line),
});
process.stdout.write(JSON.stringify({ ...configured, seconds: (performance.now() - began) / 1000, said }));
