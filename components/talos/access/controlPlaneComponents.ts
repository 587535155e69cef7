// The components of a control plane as its node reports them: the static pods that Talos has written, their status, and the kubelet that runs them.
import type { Pod } from "../../kubernetes/objects.ts";
import { podReason } from "../../kubernetes/podReason.ts";
import { maskedLine } from "../client/maskedLog.ts";
import { resources } from "../client/resources.ts";
import { fieldOf, textOf } from "../client/specs.ts";
import type { ResourceType, TalosResource } from "../client/talosClient.ts";
import type { NodeClient } from "./nodeAccess.ts";

export const staticPods: ResourceType = { namespace: "k8s", type: "StaticPods.kubernetes.talos.dev" };
export const staticPodStatuses: ResourceType = { namespace: "k8s", type: "StaticPodStatuses.kubernetes.talos.dev" };
export const kubeletSpecs: ResourceType = { namespace: "k8s", type: "KubeletSpecs.kubernetes.talos.dev" };

export interface Components {
  readonly pods: readonly StaticPod[];
  readonly kubelet: KubeletService;
}

interface StaticPod {
  /** Talos' name of it: "kube-apiserver". */
  readonly name: string;
  /** Its manifest, as text. */
  readonly manifest: string;
  /** The status of its running pod; undefined until the kubelet has reported it. */
  readonly status: Pod["status"];
  /** Changes with each pod that is started from a manifest. */
  readonly life: string;
}

interface KubeletService {
  /** The kubelet's arguments. */
  readonly spec: string;
  /** Changes with each start and end. */
  readonly version: string;
  readonly isHealthy: boolean;
  /** Why it ended itself, in its own words; undefined if it is healthy or its log does not end with that. */
  readonly ended?: string;
}

export async function readComponents(client: NodeClient): Promise<Components> {
  const [manifests, statuses, specs, service] = await Promise.all([
    client.list(staticPods),
    client.list(staticPodStatuses),
    client.list(kubeletSpecs),
    client.get(resources.services, "kubelet"),
  ]);
  const isHealthy = fieldOf(service?.spec, "running") === true && fieldOf(service?.spec, "healthy") === true;
  const ended = isHealthy ? undefined : await lastWords(client);
  return {
    pods: manifests.map((one) => staticPod(one, statuses)),
    kubelet: {
      ...{ spec: JSON.stringify(specs.map(({ spec }) => spec)), version: service?.version ?? "", isHealthy },
      ...(ended !== undefined && { ended }),
    },
  };
}

async function lastWords(client: NodeClient): Promise<string | undefined> {
  const lines = await client.logLines("kubelet", 1).catch(() => []);
  return /"command failed" err="(.*)"/.exec(maskedLine(lines.at(-1) ?? ""))?.[1];
}

/** How often a container must have ended to count as failing for good: at first an API server may end because it waits for another. */
const crashes = 3;

/** A component that is not as it should be. */
export interface ComponentFault {
  /** "kube-apiserver", "kubelet"; undefined if it is about none of them. */
  readonly component?: string;
  /** In words: "kube-apiserver: ...". */
  readonly seen: string;
  /** Waiting cannot help: a container ends again and again. */
  readonly isPermanent: boolean;
}

/** The static pods that serve Kubernetes. */
const serving = new Set(["kube-apiserver", "kube-controller-manager", "kube-scheduler"]);

/** The first component of the control plane that does not run healthily; undefined if all do. */
export function servingFault({ pods, kubelet }: Components): ComponentFault | undefined {
  const faults = pods.filter(({ name }) => serving.has(name)).flatMap((pod) => podFault(pod) ?? []);
  return first([...faults, ...kubeletFault(kubelet)]);
}

/**
 * The first component that does not run healthily with what Talos has written for it since `before`. One that was unhealthy before and has not changed does
 * not count.
 */
export function changeFault(before: Components, now: Components): ComponentFault | undefined {
  const faults = now.pods.flatMap((pod) => {
    const was = before.pods.find(({ name }) => name === pod.name);
    if (was?.manifest !== pod.manifest) return podFault(pod, was) ?? [];
    return podFault(was) === undefined ? (podFault(pod) ?? []) : [];
  });
  const isOld = now.kubelet.spec !== before.kubelet.spec && now.kubelet.version === before.kubelet.version;
  const kubelet = isOld
    ? [{ component: "kubelet", seen: "kubelet: still runs with its former settings", isPermanent: false }]
    : [];
  return first([...faults, ...kubelet, ...kubeletFault(now.kubelet, before.kubelet)]);
}

/** What it ended itself for that no restart changes: a flag or a setting that it does not know. */
const refusedSettings = /^failed to (?:parse kubelet flag|load kubelet config|validate kubelet)/;

/** The words that it ended with before may be of its former settings. */
function kubeletFault({ isHealthy, ended }: KubeletService, before?: KubeletService): readonly ComponentFault[] {
  if (isHealthy) return [];
  const component = "kubelet";
  if (ended === undefined) return [{ component, seen: "kubelet: is not healthy", isPermanent: false }];
  const isPermanent = ended !== before?.ended && refusedSettings.test(ended);
  return [{ component, seen: `kubelet: ended: ${ended}`, isPermanent }];
}

function first(faults: readonly ComponentFault[]): ComponentFault | undefined {
  return faults.find(({ isPermanent }) => isPermanent) ?? faults[0];
}

/** Whether Talos has written something else for the components since `before`. */
export function areRewritten(before: Components, now: Components): boolean {
  const written = ({ pods, kubelet }: Components) =>
    JSON.stringify([pods.map(({ name, manifest }) => [name, manifest]).sort(), kubelet.spec]);
  return written(before) !== written(now);
}

/** `before` is the pod that must have been replaced. */
function podFault({ name, status, life }: StaticPod, before?: StaticPod): ComponentFault | undefined {
  const component = name;
  const wait = (seen: string): ComponentFault => ({ component, seen: `${name}: ${seen}`, isPermanent: false });
  if (status === undefined) return wait("the kubelet does not report its pod yet");
  if (life === before?.life) return wait("the kubelet has not reported its pod with the new settings yet");
  const why = podReason({ metadata: { name }, spec: { nodeName: name }, status }, []);
  if (why === undefined) return undefined;
  const isCrashing = (status.containerStatuses ?? []).some(
    ({ restartCount, state }) => restartCount >= crashes && state?.running === undefined,
  );
  return { component, seen: why.reason, isPermanent: why.isPermanent || isCrashing };
}

function staticPod({ id, spec }: TalosResource, statuses: readonly TalosResource[]): StaticPod {
  const metadata = fieldOf(spec, "metadata");
  const name = textOf(metadata, "name") || id;
  // The kubelet names the pod after the component and the node.
  const prefix = `${textOf(metadata, "namespace") || "kube-system"}/${name}-`;
  const own = statuses.filter((one) => one.id.startsWith(prefix)).sort((a, b) => a.id.length - b.id.length)[0];
  const status = own?.spec as (Pod["status"] & { readonly startTime?: string }) | undefined;
  const containers = (status?.containerStatuses ?? []).map((one) => [one.name, textOf(one, "containerID")]);
  return { name, manifest: JSON.stringify(spec), status, life: JSON.stringify([status?.startTime, containers]) };
}
