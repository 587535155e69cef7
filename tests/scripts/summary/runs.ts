// A run on a lab that is made by hand: two nodes, with moments that can be read.
import type { TraceLine } from "../../../components/trace/trace.ts";
import type { Fact, Timeline } from "../../../scripts/summary/facts.ts";
import type { Expected, Run } from "../../../scripts/summary/report.ts";
import { readStackState } from "../../../scripts/summary/stackState.ts";

/** When the lab began, in milliseconds; a run's moments are told in seconds after that. */
export const labBegan = 1_000_000;

export function at(seconds: number): number {
  return labBegan + seconds * 1000;
}

/** A fact from one line: `3.5 cp-1 pod ready pod=kube-system/cilium-`. */
export function facts(...lines: readonly string[]): Fact[] {
  return lines.map((line) => {
    const [, moment, subject = "", rest = ""] = /^([\d.]+) (\S+) (.*)$/.exec(line) ?? [];
    const words = rest.split(" ").filter((word) => !word.includes("="));
    const pairs = rest
      .split(" ")
      .filter((word) => word.includes("="))
      .map((word) => word.split("=") as [string, string]);
    const [what = "", ...value] = words;
    const detail = pairs.length === 0 ? {} : { detail: Object.fromEntries(pairs) };
    return { at: Number(moment), subject, what, value: value.join(" "), ...detail };
  });
}

export function timeline(...lines: readonly string[]): Timeline {
  return { started: labBegan, facts: facts(...lines) };
}

/** A gate that opened; each wait as [began, held, opened, stable]. */
export function opened(gate: string, ...waits: readonly (readonly [number, number, number, number])[]): TraceLine {
  return {
    type: `gates:${gate}`,
    name: gate,
    began: at(waits[0]?.[0] ?? 0),
    ended: at(waits.at(-1)?.[2] ?? 0),
    outcome: "done",
    waits: waits.map(([began, held, ready, stable]) => ({
      began: at(began),
      held: at(held),
      opened: at(ready),
      stable,
    })),
  };
}

export const expected: Expected = {
  clusterName: "test",
  nodes: [
    { name: "cp-1", role: "controlplane", address: "10.0.1.11" },
    { name: "w-1", role: "worker", address: "10.0.1.21" },
  ],
  gates: ["Preflight", "Etcd", "KubernetesApi"],
};

const gate = (name: string, outputs: object) => ({ type: `pulumi-nodejs:dynamic/gates:${name}`, outputs });
/** A node in the state. */
export const configured = (node: string, outputs: object) => ({
  type: "pulumi-nodejs:dynamic/talos:NodeConfiguration",
  outputs: { node, version: "1.13.8", machineConfiguration: { ciphertext: "v1:geheim" }, ...outputs },
});

/** As `pulumi stack export` has it, of a chain that is whole. */
export const exported = {
  version: 3,
  deployment: {
    resources: [
      {
        type: "pulumi:pulumi:Stack",
        outputs: { clientCertificateDaysLeft: 364, kubeconfig: { ciphertext: "v1:geheim" } },
      },
      configured("cp-1", { endpoint: "198.51.100.1" }),
      configured("w-1", { endpoint: "198.51.100.2" }),
      gate("Preflight", { evidence: { machines: { "cp-1": "a", "w-1": "b" } }, waited: 0.2, inputs: {}, drift: [] }),
      gate("Etcd", { evidence: { members: ["cp-1"], alarms: 0 }, waited: 6, inputs: {}, drift: [] }),
      gate("KubernetesApi", {
        evidence: { server: "https://198.51.100.1:6443" },
        waited: 5.5,
        inputs: { answers: 3 },
        drift: [],
      }),
    ],
  },
};

/** Which of the resources are there, by their types' ends. */
export function stateWith(...ends: readonly string[]) {
  const resources = exported.deployment.resources.filter(({ type }) => ends.some((end) => type.endsWith(end)));
  return readStackState({ deployment: { resources } });
}

/** The config of a node, as it was sent, or could not be. */
export function sent(node: string, code?: string): TraceLine {
  const times = { began: at(1), ended: at(2) };
  const line = { type: "talos:NodeConfiguration", name: `test-${node}`, ...times };
  return code === undefined ? { ...line, outcome: "done" } : { ...line, outcome: "failed", code };
}

export function runOf(parts: Partial<Run>): Run {
  return { expected, state: readStackState(exported), trace: undefined, ended: at(0), timeline: undefined, ...parts };
}
