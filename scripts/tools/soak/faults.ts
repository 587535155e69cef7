// Transient faults as they happen on real platforms: some of every kind, chosen by a seed.
import type { Chance } from "./chance.ts";

/** A fault with its moment, in the format of a scenario of the lab. */
export interface ChosenFault {
  readonly on: string;
  readonly do: string;
  readonly name?: string;
  readonly subject?: string;
  readonly times?: number;
  readonly skip?: number;
  readonly delay?: string;
  readonly by?: string;
  readonly code?: string;
  readonly message?: string;
  readonly when?: { readonly subject?: string; readonly what: string; readonly value?: string };
  readonly after?: string;
  readonly for?: string;
}

/** Each is a way in which a bring-up fails on real platforms (S1.7), and which ends without help. */
const ofNodes: readonly Kind[] = [
  // Faults of a node's API: transient errors, unanswered calls, refused connections, a slow network.
  ({ chance, machine }) => ({
    ...{ on: "talos", subject: machine, do: "fail", code: "Unavailable", message: "connection reset by peer" },
    times: chance.between(1, 5),
    skip: chance.between(0, 20),
  }),
  ({ chance, machine }) => ({
    ...{ on: "talos", subject: machine, name: chance.one(["ApplyConfiguration", "Bootstrap", "Version", "*"]) },
    ...{ do: chance.one(["drop", "refuse", "lose"]), times: chance.between(1, 2) },
  }),
  // Cut while the call is at work: Talos cancels a bootstrap with its connection.
  ({ machine }) => ({ on: "talos", subject: machine, name: "Bootstrap", do: "cut", times: 1 }),
  ({ chance, machine }) => ({
    ...{ on: "talos", subject: machine, do: "delay", delay: `${chance.between(1, 3)}s`, for: "20s" },
  }),
  // Faults of the machine: it loses power, or is slow.
  ({ chance, machine }) => ({
    ...{ on: "machine", subject: machine, do: "crash", times: 1 },
    when: { subject: machine, ...chance.one([applied, { what: "stage", value: "running" }]) },
    after: `${chance.between(0, 4)}s`,
  }),
  ({ chance, machine }) => ({
    ...{ on: "stage", name: "booting", subject: machine, do: "delay", delay: `${chance.between(5, 20)}s`, times: 1 },
  }),
  ({ chance, machine }) => ({
    ...{ on: "service", name: chance.one(["etcd", "kubelet", "apid", "cri"]), subject: machine },
    ...{ do: chance.one(["fail", "crash"]), times: 1 },
  }),
  // Health checks that fail now and then: the service flaps.
  ({ chance, machine }) => ({
    ...{ on: "health", name: chance.one(["etcd", "kubelet", "apid", "cri", "*"]), subject: machine, do: "fail" },
    ...{ message: "context deadline exceeded", times: chance.between(1, 10), skip: chance.between(0, 10) },
  }),
  // A clock that is wrong after each boot, and a time server that is slow.
  ({ chance, machine }) => ({
    ...{ on: "clock", name: "boot", subject: machine, do: "skew", by: chance.one(["-720h", "-1h", "1h", "720h"]) },
  }),
  ({ chance, machine }) => ({
    ...{ on: "clock", name: "sync", subject: machine, do: "delay", delay: `${chance.between(3, 20)}s`, times: 1 },
  }),
  // A registry that fails.
  ({ chance, machine }) => ({
    ...{ on: "image", name: chance.one(["*/etcd:*", "*/kubelet:*"]), subject: machine },
    ...{ do: "fail", message: "502 Bad Gateway", times: chance.between(1, 4) },
  }),
  // etcd and Kubernetes.
  ({ chance }) => ({ on: "member", do: "delay", delay: `${chance.between(3, 15)}s`, times: 1 }),
  ({ chance, node }) => ({
    ...{ on: "node", name: "register", subject: node },
    ...{ do: "delay", delay: `${chance.between(3, 15)}s`, times: 1 },
  }),
  ({ chance }) => ({
    ...{ on: "kube", name: chance.one(["GET *", "POST *", "PATCH *"]), do: "fail", code: chance.one(["503", "500"]) },
    ...{ times: chance.between(1, 3), skip: chance.between(0, 200) },
  }),
  ({ chance }) => ({
    ...{ on: "kube", name: chance.one(["POST *", "PATCH *"]), do: chance.one(["refuse", "lose", "mute"]) },
    ...{ times: 1, skip: chance.between(0, 200) },
  }),
  // The API server restarts while something is installed.
  ({ chance }) => ({
    ...{ on: "kube", do: "refuse", for: `${chance.between(5, 20)}s` },
    when: { what: "call", value: chance.one(releases) },
  }),
  ({ chance, node }) => ({
    ...{ on: "pod", name: chance.one(["kube-system/cilium-*", "kube-system/*"]), subject: node, do: "fail" },
    ...{ code: chance.one(["ImagePullBackOff", "CrashLoopBackOff"]), times: chance.between(1, 3) },
  }),
  // Reconciliation: git does not answer, or what is in front of it does; Flux' controllers crash, or their images cannot be pulled.
  ({ chance }) => ({
    ...{ on: "cloud", subject: "git", name: chance.one(["GET *", "POST *"]), times: chance.between(1, 5) },
    ...chance.one<Pick<ChosenFault, "do" | "code">>([{ do: "refuse" }, { do: "lose" }, { do: "fail", code: "502" }]),
  }),
  ({ chance }) => ({
    ...{ on: "pod", name: `flux-system/${chance.one(["source", "kustomize", "*"])}-controller-*`, do: "fail" },
    ...{ code: chance.one(["CrashLoopBackOff", "ErrImagePull", "ImagePullBackOff"]), times: chance.between(1, 3) },
  }),
];

/** The same for the platform's API. */
const ofClouds: readonly Kind[] = [
  ({ chance }) => ({
    ...{ on: "cloud", name: chance.one(["POST *", "GET *"]), do: "fail", code: chance.one(["503", "500", "429"]) },
    ...{ times: chance.between(1, 2), skip: chance.between(0, 15) },
  }),
  ({ chance }) => ({
    ...{ on: "cloud", do: "refuse", times: 1, skip: chance.between(0, 25) },
  }),
  // The call took effect, and nobody heard of it; what it started fails: the names of actions and of tasks.
  ({ chance }) => ({
    ...{ on: "cloud", name: "POST *", do: "lose", times: 1, skip: chance.between(0, 12) },
  }),
  // The call is never answered; it took effect, or it did not.
  ({ chance }) => ({
    ...{ on: "cloud", name: chance.one(["POST *", "GET *"]), do: chance.one(["mute", "drop"]) },
    ...{ times: 1, skip: chance.between(0, 12) },
  }),
  ({ chance }) => ({
    ...{ on: "cloud", name: chance.one(["action *", "task *"]), do: "fail", times: 1, skip: chance.between(0, 10) },
  }),
  // An outage, and a limit that is used up.
  ({ chance }) => ({
    ...{ on: "cloud", after: `${chance.between(1, 15)}s`, for: `${chance.between(5, 60)}s` },
    ...chance.one<Pick<ChosenFault, "do" | "code">>([
      { do: "refuse" },
      { do: "fail", code: "503" },
      { do: "fail", code: "429" },
    ]),
  }),
];

/** The same for a load balancer in front of the control planes: health checks of its targets. */
const ofBalancers: readonly Kind[] = [
  ({ chance }) => ({
    ...{ on: "health", name: chance.one(["test-cp-1:6443", "*:6443"]), do: "fail", times: chance.between(1, 10) },
  }),
];

type Kind = (given: { readonly chance: Chance; readonly node: string; readonly machine: string }) => ChosenFault;

/** Calls by which Helm begins to install a release. */
const releases = ["kube-system", "flux-system"].map((namespace) => `POST /api/v1/namespaces/${namespace}/secrets`);

const applied = { what: "config", value: "applied" };

/** Where faults can happen. */
export interface FaultPlace {
  /** Whether the platform has an API. */
  readonly hasApi: boolean;
  readonly hasBalancer: boolean;
  /** The names of the nodes in Kubernetes. */
  readonly nodes: readonly [string, ...string[]];
}

/** The given number of faults while these nodes come up. */
export function chooseFaults(chance: Chance, count: number, { hasApi, hasBalancer, nodes }: FaultPlace): ChosenFault[] {
  const kinds = [...ofNodes, ...(hasApi ? ofClouds : []), ...(hasBalancer ? ofBalancers : [])];
  return Array.from({ length: count }, () => {
    const node = chance.one(nodes);
    return chance.one(kinds)({ chance, node, machine: `test-${node}` });
  });
}
