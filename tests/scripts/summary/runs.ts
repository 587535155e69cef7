// A run on a lab, written by hand: two nodes, with simple times.
import type { TraceLine } from "../../../components/engine/trace.ts";
import type { Expected, Run } from "../../../scripts/summary/state/run.ts";
import { readStackState } from "../../../scripts/summary/state/stackState.ts";
import type { Fact, Timeline } from "../../../scripts/summary/state/timeline.ts";

/** When the lab started, in milliseconds; the times of a run are in seconds after that. */
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

/** A gate that opened; each wait as [began, held, opened, stableSeconds]. */
export function opened(gate: string, ...waits: readonly (readonly [number, number, number, number])[]): TraceLine {
  return {
    type: `gates:${gate}`,
    name: gate,
    began: at(waits[0]?.[0] ?? 0),
    ended: at(waits.at(-1)?.[2] ?? 0),
    outcome: "done",
    waits: waits.map(([began, held, ready, stableSeconds]) => ({
      began: at(began),
      held: at(held),
      opened: at(ready),
      stableSeconds,
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
  type: "pulumi-nodejs:dynamic/talos:AppliedMachineConfig",
  outputs: { node, version: "1.13.8", machineConfiguration: { ciphertext: "v1:geheim" }, ...outputs },
});

/** The output of `pulumi stack export` for a complete chain. */
export const exported = {
  version: 3,
  deployment: {
    resources: [
      {
        type: "pulumi:pulumi:Stack",
        outputs: { clientCertificateDaysLeft: 364, kubeconfig: { ciphertext: "v1:geheim" } },
      },
      configured("cp-1", { talosAddress: "198.51.100.1" }),
      configured("w-1", { talosAddress: "198.51.100.2" }),
      gate("Preflight", {
        evidence: { machines: { "cp-1": "a", "w-1": "b" } },
        waitedSeconds: 0.2,
        inputs: {},
        drift: [],
      }),
      gate("Etcd", { evidence: { members: ["cp-1"], alarms: 0 }, waitedSeconds: 6, inputs: {}, drift: [] }),
      gate("KubernetesApi", {
        evidence: { server: "https://198.51.100.1:6443" },
        waitedSeconds: 5.5,
        inputs: { answers: 3 },
        drift: [],
      }),
    ],
  },
};

/** Which of the resources exist, by the ends of their types. */
export function stateWith(...ends: readonly string[]) {
  const resources = exported.deployment.resources.filter(({ type }) => ends.some((end) => type.endsWith(end)));
  return readStackState({ deployment: { resources } });
}

/** The config of a node: sent, or failed. */
export function sent(node: string, code?: string): TraceLine {
  const times = { began: at(1), ended: at(2) };
  const line = { type: "talos:AppliedMachineConfig", name: `test-${node}`, ...times };
  return code === undefined ? { ...line, outcome: "done" } : { ...line, outcome: "failed", code };
}

export function runOf(parts: Partial<Run>): Run {
  return { expected, state: readStackState(exported), trace: undefined, ended: at(0), timeline: undefined, ...parts };
}

/** A run in which three gates opened. */
export const openedTrace = {
  began: at(0),
  lines: [
    opened("Preflight", [8, 8.2, 8.2, 0]),
    opened("Etcd", [9, 10.1, 15.1, 5]),
    opened("KubernetesApi", [16, 16.5, 21.5, 5]),
  ],
};
/** The lab's timeline of that run. */
export const labTimeline = timeline(
  "1 cp-1 server initializing",
  "3 cp-1 api maintenance",
  "9.5 cp-1 bootstrap asked",
  "10 cp-1 etcd voter",
  "15 cp-1 pod ready pod=kube-system/kube-apiserver",
);
