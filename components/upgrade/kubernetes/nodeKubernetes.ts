// What a node runs of Kubernetes, as the node itself reports it.
import type { MachineIdentity } from "../../model/machine.ts";
import type { Peer } from "../../model/peer.ts";
import type { Role } from "../../model/role.ts";
import { isMapping } from "../../model/untyped.ts";
import { type Components, kubeletSpecs, readComponents } from "../../talos/access/controlPlaneComponents.ts";
import type { NodeClient } from "../../talos/access/nodeAccess.ts";
import type { CallOptions } from "../../talos/client/connection.ts";
import { fieldOf, textOf } from "../../talos/client/specs.ts";
import { imageVersion, type KubernetesComponent, type KubernetesImages } from "../../talos/config/kubernetesImages.ts";
import type { Settings } from "./removals.ts";

/** A node, and how to reach it. */
export interface UpgradeNode extends Peer {
  readonly role: Role;
  /** What identifies the machine; no other one is changed. */
  readonly identity: MachineIdentity;
}

/** The static pods, in the order in which they may get a new version. */
export const staticComponents = ["kube-apiserver", "kube-controller-manager", "kube-scheduler"] as const;

/** What a node runs. */
export interface NodeKubernetes {
  /** As Talos has written them for the kubelet, and for its own. */
  readonly wanted: KubernetesImages;
  /** Of the running static pods, as the kubelet reports them. */
  readonly running: KubernetesImages;
  readonly settings: readonly Settings[];
  readonly components: Components;
  /** The version of Talos. */
  readonly talos: string;
}

export async function readKubernetes(client: NodeClient, options?: CallOptions): Promise<NodeKubernetes> {
  const [components, specs, { version }] = await Promise.all([
    readComponents(client),
    client.list(kubeletSpecs, options),
    client.version(options),
  ]);
  const kubelet = specs[0]?.spec;
  const pods = components.pods.map((pod) => ({ ...pod, ...containerOf(pod.manifest, pod.name) }));
  const gates = fieldOf(fieldOf(kubelet, "config"), "featureGates");
  const images = (all: readonly (readonly [string, string | undefined])[]): KubernetesImages =>
    Object.fromEntries(all.filter(([, image]) => image !== undefined && image !== ""));
  return {
    wanted: images([["kubelet", textOf(kubelet, "image")], ...pods.map(({ name, image }) => [name, image] as const)]),
    running: images(pods.map(({ name, status }) => [name, statusImage(status, name)] as const)),
    settings: [
      ...pods.map(({ name, args }) => ({ component: name, args })),
      {
        component: "kubelet",
        args: textsOf(fieldOf(kubelet, "args")),
        gates: isMapping(gates) ? Object.keys(gates) : [],
      },
    ],
    components,
    talos: version.replace(/^v/, ""),
  };
}

/** The image and the arguments in the manifest of a static pod. */
function containerOf(manifest: string, name: string): { readonly image: string; readonly args: readonly string[] } {
  const containers = fieldOf(fieldOf(JSON.parse(manifest), "spec"), "containers");
  const all: readonly unknown[] = Array.isArray(containers) ? containers : [];
  const own = all.find((container) => textOf(container, "name") === name) ?? all[0];
  return { image: textOf(own, "image"), args: [...textsOf(fieldOf(own, "command")), ...textsOf(fieldOf(own, "args"))] };
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

function statusImage(status: Components["pods"][number]["status"], name: string): string | undefined {
  const containers = status?.containerStatuses ?? [];
  return (containers.find((container) => container.name === name) ?? containers[0])?.image;
}

/** The components that a node of this role has. */
export function componentsOf(role: Role): readonly KubernetesComponent[] {
  return role === "controlplane" ? [...staticComponents, "kubelet"] : ["kubelet"];
}

/** The components that Talos does not run in this version, or that run in another one. */
export function behind(
  { wanted, running }: Pick<NodeKubernetes, "wanted" | "running">,
  role: Role,
  version: string,
): readonly KubernetesComponent[] {
  const isOther = (image: string | undefined) => image !== undefined && imageVersion(image)?.text !== version;
  return componentsOf(role).filter((component) => isOther(wanted[component]) || isOther(running[component]));
}

/** "1.36.1", or "kube-apiserver 1.36.1, kubelet 1.35.4" where they differ. */
export function versionsOf({ wanted, running }: Pick<NodeKubernetes, "wanted" | "running">, role: Role): string {
  const versions = componentsOf(role).flatMap((component) => {
    const image = running[component] ?? wanted[component];
    return image === undefined ? [] : [{ component, version: imageVersion(image)?.text ?? image }];
  });
  const groups = [...Map.groupBy(versions, ({ version }) => version)];
  if (groups.length <= 1) return groups[0]?.[0] ?? "nothing";
  return groups.map(([version, all]) => `${all.map(({ component }) => component).join(" and ")} ${version}`).join(", ");
}
