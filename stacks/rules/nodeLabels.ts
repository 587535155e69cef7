import { isDnsName } from "../../components/model/settings/hostName.ts";
import type { Fault } from "../base/fault.ts";
import { yamlPath } from "../schema/yamlPath.ts";
import { rule } from "./rule.ts";

const namePart = /^[A-Za-z0-9]([\w.-]{0,61}[A-Za-z0-9])?$/;
const labelValue = /^([A-Za-z0-9]([\w.-]{0,61}[A-Za-z0-9])?)?$/;

/** What Kubernetes lets a kubelet set on its own node under its own domains. https://kubernetes.io/docs/reference/access-authn-authz/admission-controllers/#noderestriction */
const ownLabels = new Set([
  "kubernetes.io/hostname",
  "kubernetes.io/arch",
  "kubernetes.io/os",
  "beta.kubernetes.io/instance-type",
  "node.kubernetes.io/instance-type",
  "failure-domain.beta.kubernetes.io/region",
  "failure-domain.beta.kubernetes.io/zone",
  "topology.kubernetes.io/region",
  "topology.kubernetes.io/zone",
]);

/** What Kubernetes, and before it Talos' own validator, accepts. */
export const labelSpelling = rule(["nodes"], function* ({ nodes }) {
  for (const [index, { labels, taints }] of nodes.entries()) {
    for (const [key, value] of Object.entries(labels)) {
      const path = yamlPath(["nodes", index, "labels", key]);
      yield* spellingFaults(path, { term: "label", example: "example.org/disk", key, value });
    }
    for (const [key, taint] of Object.entries(taints)) {
      const path = yamlPath(["nodes", index, "taints", key]);
      const value = taint.slice(0, taint.lastIndexOf(":"));
      yield* spellingFaults(path, { term: "taint", example: "example.org/gpu", key, value });
    }
  }
});

interface Spelled {
  readonly term: "label" | "taint";
  /** A name that is accepted. */
  readonly example: string;
  readonly key: string;
  readonly value: string;
}

function* spellingFaults(path: string, { term, example, key, value }: Spelled): Iterable<Fault> {
  if (!isQualifiedName(key)) {
    yield { path, message: `is not a ${term} name: it must be '<name>' or '<domain>/<name>', such as ${example}` };
  }
  if (!labelValue.test(value)) {
    const form = "letters, digits, '-', '_' and '.', 63 at most, a letter or digit at both ends";
    yield { path, message: `'${value}' is not a ${term} value: ${form}` };
  }
}

/** Kubernetes' own term: a name, or a name in a DNS domain. */
function isQualifiedName(text: string): boolean {
  const [name = "", domain, ...more] = text.split("/").toReversed();
  return namePart.test(name) && (domain === undefined || isDnsName(domain)) && more.length === 0;
}

/** For one forbidden label the API server refuses all labels of the node, and only the node's log shows it. siderolabs/talos#6750 */
export const workerLabels = rule(["nodes"], function* ({ nodes }) {
  for (const [index, { role, labels }] of nodes.entries()) {
    if (role !== "worker") continue;
    for (const key of Object.keys(labels).filter(isForbidden)) {
      yield {
        path: yamlPath(["nodes", index, "labels", key]),
        message:
          "a worker may not set this label on itself (NodeRestriction), and all its labels would be refused: set it with kubectl or from GitOps",
      };
    }
  }
});

/** What the kubelet says of its node, and pods select it by. */
const factLabels = ["kubernetes.io/hostname", "kubernetes.io/os", "kubernetes.io/arch"];

/** Labels and taints that Kubernetes itself sets and removes. */
export const kubernetesOwn = rule(["nodes"], function* ({ nodes }) {
  for (const [index, { labels, taints }] of nodes.entries()) {
    for (const key of Object.keys(labels).filter((label) => factLabels.includes(label))) {
      const message = "is set by the kubelet, and pods of the system select nodes by it: use a label of your own";
      yield { path: yamlPath(["nodes", index, "labels", key]), message };
    }
    for (const key of Object.keys(taints).filter((taint) => /^node\.(cloudprovider\.)?kubernetes\.io\//.test(taint))) {
      const message = "is set and removed by Kubernetes, and its pods wait until that happens: use a taint of your own";
      yield { path: yamlPath(["nodes", index, "taints", key]), message };
    }
  }
});

function isForbidden(label: string): boolean {
  const domain = label.includes("/") ? label.slice(0, label.indexOf("/")) : "";
  const isIn = (parent: string) => domain === parent || domain.endsWith(`.${parent}`);
  if (isIn("node-restriction.kubernetes.io")) return true;
  if (isIn("kubelet.kubernetes.io") || isIn("node.kubernetes.io")) return false;
  return (isIn("kubernetes.io") || isIn("k8s.io")) && !ownLabels.has(label);
}
