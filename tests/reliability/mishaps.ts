// What goes wrong in life and passes: of every kind something, struck by chance and told by a seed.
import type { Rule } from "../lab/support/lab.ts";

/** A fault with its moment, as a scenario of the lab has it. */
export type Mishap = Rule & {
  readonly when?: { readonly subject?: string; readonly what: string; readonly value?: string };
  readonly after?: string;
  readonly for?: string;
};

export class Chance {
  private state: number;

  constructor(seed: number) {
    this.state = seed;
  }

  /** From 0 on, less than 1. */
  next(): number {
    // Mulberry32: short, and the same everywhere.
    this.state = (this.state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  between(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1));
  }

  one<T>(of: readonly [T, ...T[]]): T {
    return of[this.between(0, of.length - 1)] ?? of[0];
  }
}

/** Each is a way in which a bring-up goes wrong in life (S1.7), and which is over by itself. */
const kinds: readonly [Kind, ...Kind[]] = [
  // A node's API: errors that pass, answers that never come, connections that are refused, a slow network.
  ({ chance, node }) => ({
    ...{ on: "talos", subject: node, do: "fail", code: "Unavailable", message: "connection reset by peer" },
    times: chance.between(1, 5),
    skip: chance.between(0, 20),
  }),
  ({ chance, node }) => ({
    ...{ on: "talos", subject: node, name: chance.one(["ApplyConfiguration", "Bootstrap", "Version", "*"]) },
    ...{ do: chance.one(["drop", "refuse"]), times: chance.between(1, 2) },
  }),
  ({ chance, node }) => ({
    ...{ on: "talos", subject: node, do: "delay", delay: `${chance.between(1, 3)}s`, for: "20s" },
  }),
  // The machine: it loses its power, or takes its time.
  ({ chance, node }) => ({
    ...{ on: "machine", subject: node, do: "crash", times: 1 },
    when: { subject: node, ...chance.one([applied, { what: "stage", value: "running" }]) },
    after: `${chance.between(0, 4)}s`,
  }),
  ({ chance, node }) => ({
    ...{ on: "stage", name: "booting", subject: node, do: "delay", delay: `${chance.between(5, 20)}s`, times: 1 },
  }),
  ({ chance, node }) => ({
    ...{ on: "service", name: chance.one(["etcd", "kubelet", "apid", "cri"]), subject: node },
    ...{ do: chance.one(["fail", "crash"]), times: 1 },
  }),
  // etcd and Kubernetes.
  ({ chance }) => ({ on: "member", do: "delay", delay: `${chance.between(3, 15)}s`, times: 1 }),
  ({ chance, node }) => ({
    ...{ on: "node", name: "register", subject: node.replace("test-", "") },
    ...{ do: "delay", delay: `${chance.between(3, 15)}s`, times: 1 },
  }),
  ({ chance }) => ({
    ...{ on: "kube", name: chance.one(["GET *", "POST *", "PATCH *"]), do: "fail", code: chance.one(["503", "500"]) },
    ...{ times: chance.between(1, 3), skip: chance.between(0, 200) },
  }),
  ({ chance, node }) => ({
    ...{ on: "pod", name: chance.one(["kube-system/cilium-*", "kube-system/*", "flux-system/*"]) },
    ...{ subject: node.replace("test-", ""), do: "fail" },
    ...{ code: chance.one(["ImagePullBackOff", "CrashLoopBackOff"]), times: chance.between(1, 3) },
  }),
  // The cloud. Not a call that is never answered: its plugin waits for that by itself, twenty minutes, and lets nobody say otherwise.
  ({ chance }) => ({
    ...{ on: "cloud", name: chance.one(["POST *", "GET *"]), do: "fail", code: chance.one(["503", "500", "429"]) },
    ...{ times: chance.between(1, 2), skip: chance.between(0, 15) },
  }),
  ({ chance }) => ({
    ...{ on: "cloud", do: "refuse", times: 1, skip: chance.between(0, 25) },
  }),
];

type Kind = (told: { readonly chance: Chance; readonly node: string }) => Mishap;

const applied = { what: "config", value: "applied" };

/** Three that strike while these nodes come up. */
export function mishaps(seed: number, nodes: readonly [string, ...string[]]): Mishap[] {
  const chance = new Chance(seed);
  return Array.from({ length: 3 }, () => chance.one(kinds)({ chance, node: chance.one(nodes) }));
}
