// What some work writes: to the cloud, to Talos, to Kubernetes.
import { expect } from "@jest/globals";
import type { Chain } from "./chain.ts";

/** The calls that would change something, as the lab has recorded them, a line each. */
export async function writes(chain: Chain, work: () => Promise<void>): Promise<string[]> {
  const { lab } = chain;
  // The lab proxies the API server, and so records calls, only while there is a fault for it.
  const listening = await lab.fault({ on: "kube", name: "GET /nothing", do: "refuse" });
  const from = lab.facts.all.length;
  const calls = () =>
    lab.facts.all.slice(from).flatMap(({ subject, what, value }) => (what === "call" ? `${subject} ${value}` : []));
  // A write before shows that it records.
  await chain.kubectl("annotate", "node", "--all", "--overwrite", `heard=${from}`);
  await lab.until({ what: "call", value: "PATCH /api/v1/nodes/cp-1", after: lab.facts.all[from - 1] });
  const before = calls().length;
  expect(before).toBeGreaterThan(0);
  await work();
  // Facts come in the order of the calls: when this one is recorded, all earlier ones are.
  const last = lab.facts.all.at(-1);
  await lab.endFault(listening);
  await lab.until({ subject: listening, what: "fault", value: "removed", after: last });
  return calls().slice(before);
}
