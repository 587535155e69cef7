// The effect of a changed machine config on the components of a control plane: kube-apiserver, kube-controller-manager, kube-scheduler and the kubelet.
import { configChanges } from "./configDiff.ts";
import { mainDocument } from "./configDocuments.ts";

/** `none`: they keep running. `some`: they may be restarted. `restart`: Talos writes the manifests of static pods again. */
export type ComponentEffect = "none" | "some" | "restart";

const manifests = new Set(["apiServer", "controllerManager", "scheduler"]);
/** Keys of `machine` that affect no component. */
const others = new Set([
  ...["disks", "env", "files", "install", "kernel", "logging", "registries", "seccompProfiles", "sysctls", "sysfs"],
  ...["nodeAnnotations", "nodeLabels", "nodeTaints", "time", "udev"],
]);

/** Unknown changes count as changes that may restart something. */
export function componentEffect(before: string, after: string): ComponentEffect {
  const changes = configChanges(before, after);
  if (changes === undefined) return "some";
  const effects = changes.map(({ document, path: [section = "", key = ""] }): ComponentEffect => {
    if (document !== mainDocument) return "some";
    if (section === "cluster" && manifests.has(key)) return "restart";
    return section === "machine" && others.has(key) ? "none" : "some";
  });
  return effects.find((effect) => effect === "restart") ?? effects.find((effect) => effect === "some") ?? "none";
}
