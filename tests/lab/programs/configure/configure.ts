// Configures one node as the resource does, without an engine: reads the target as JSON, and prints what was done.
import { text } from "node:stream/consumers";
import { realAccess } from "../../../../components/talos/access/nodeAccess.ts";
import { configureNode } from "../../../../components/talos/nodes/configureNode.ts";
import { systemClock } from "../../../../components/waiting/clock.ts";

const said: string[] = [];
const began = performance.now();
const configured = await configureNode(JSON.parse(await text(process.stdin)), {
  access: realAccess,
  clock: systemClock,
  random: () => 0,
  report: (line) => void said.push(line),
});
process.stdout.write(JSON.stringify({ ...configured, seconds: (performance.now() - began) / 1000, said }));
