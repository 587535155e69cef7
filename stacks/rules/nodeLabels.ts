import { yamlPath } from "../yamlPath.ts";
import { rule } from "./rule.ts";

const qualifiedName = /^([a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?\/)?[A-Za-z0-9]([\w.-]{0,61}[A-Za-z0-9])?$/;
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

/** The spelling that Kubernetes, and before it Talos' own validator, asks for. */
export const labelSpelling = rule(["nodes"], function* ({ nodes }) {
  for (const [index, { labels, taints }] of nodes.entries()) {
    for (const [key, value] of Object.entries(labels)) {
      const path = yamlPath(["nodes", index, "labels", key]);
      if (!qualifiedName.test(key)) {
        yield { path, message: "is no label name: it must be '<name>' or '<domain>/<name>'" };
      }
      if (!labelValue.test(value)) {
        yield {
          path,
          message: `'${value}' is no label value: letters, digits, '-', '_' and '.', 63 at most, a letter or digit at both ends`,
        };
      }
    }
    for (const key of Object.keys(taints).filter((name) => !qualifiedName.test(name))) {
      yield {
        path: yamlPath(["nodes", index, "taints", key]),
        message: "is no taint name: it must be '<name>' or '<domain>/<name>'",
      };
    }
  }
});

/** One forbidden label and the API server turns down all labels of the node, which only the node's log tells. siderolabs/talos#6750 */
export const workerLabels = rule(["nodes"], function* ({ nodes }) {
  for (const [index, { role, labels }] of nodes.entries()) {
    if (role !== "worker") continue;
    for (const key of Object.keys(labels).filter(isForbidden)) {
      yield {
        path: yamlPath(["nodes", index, "labels", key]),
        message:
          "a worker may not set this label on itself (NodeRestriction), and with it all its labels are refused: set it with kubectl or from GitOps",
      };
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
