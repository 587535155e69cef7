// Why a pod is not ready, in the words of the component that prevents it.
import type { ContainerStatus, KubernetesEvent, Pod } from "./objects.ts";

export interface PodReason {
  readonly reason: string;
  /** Whether waiting cannot help. */
  readonly isPermanent: boolean;
  /** The containers that end again and again, if there are any. */
  readonly crashes?: string;
}

/** The number of a pod's latest events that are reported. */
const eventsTold = 2;

/** Undefined if the pod is ready. */
export function podReason(pod: Pod, events: readonly KubernetesEvent[]): PodReason | undefined {
  const said = stateReason(pod);
  if (said === undefined) return undefined;
  const lately = lastEvents(pod, events, said);
  const reason = [
    `pod ${pod.metadata.name}: ${said}`,
    ...(lately.length === 0 ? [] : [`last events: ${lately.join("; ")}`]),
  ];
  const crashing = crashingContainers(pod);
  return {
    reason: reason.join("; "),
    isPermanent: /\bInvalidImageName\b/.test(said),
    ...(crashing.length > 0 && { crashes: `pod ${pod.metadata.name}: ${crashing.join(", ")}` }),
  };
}

/** Those that have just failed, or wait for the kubelet to start them again. */
function crashingContainers({ status = {} }: Pod): readonly string[] {
  const { initContainerStatuses = [], containerStatuses = [] } = status;
  return [...initContainerStatuses, ...containerStatuses]
    .filter(({ state: { waiting, terminated } = {} }) => {
      return waiting?.reason === "CrashLoopBackOff" || (terminated !== undefined && terminated.exitCode !== 0);
    })
    .map(({ name }) => name);
}

function stateReason({ metadata, spec, status = {} }: Pod): string | undefined {
  if (metadata.deletionTimestamp !== undefined) return "is being deleted";
  const condition = (type: string) => status.conditions?.find((one) => one.type === type);
  const isReady = condition("Ready")?.status === "True";
  if (isReady && status.phase === "Running") return undefined;
  const scheduled = condition("PodScheduled");
  if (scheduled?.status === "False") return `no node accepts it: ${words(scheduled)}`;
  if (status.phase === "Failed" || status.phase === "Succeeded") return `has ended (${words(status) || status.phase})`;
  const containers = [
    ...(status.initContainerStatuses ?? []).map((one) => containerReason(one, "init container")),
    ...(status.containerStatuses ?? []).map((one) => containerReason(one, "container")),
  ].filter((one) => one !== undefined);
  // The first container that does not wait for another one is the one that the others wait for.
  const telling = containers.find((one) => !/: (PodInitializing|ContainerCreating)$/.test(one));
  const who = spec?.nodeName === undefined ? "the scheduler" : "its node";
  return telling ?? containers[0] ?? `is ${status.phase ?? "Pending"}, and ${who} has reported nothing about it yet`;
}

function containerReason(container: ContainerStatus, kind: string): string | undefined {
  const { name, ready, restartCount, image, state = {}, lastState = {} } = container;
  const who = `${kind} ${name}`;
  if (state.waiting !== undefined) {
    const before = lastState.terminated;
    const ended = before === undefined ? "" : `, it ended with ${before.exitCode}${parenthesis(words(before))}`;
    const again = restartCount === 0 ? "" : `, restarts: ${restartCount}`;
    // If it is known why the container ended, the back-off's message only repeats its name and delay.
    const said = (before === undefined ? words(state.waiting) : state.waiting.reason) || "waits";
    const which = /image/i.test(said) && !said.includes(image) ? ` (${image})` : "";
    return `${who}: ${said}${which}${ended}${again}`;
  }
  if (state.terminated !== undefined && (state.terminated.exitCode !== 0 || kind === "container")) {
    return `${who}: ended with ${state.terminated.exitCode}${parenthesis(words(state.terminated))}`;
  }
  if (ready || state.terminated !== undefined) return undefined;
  return kind === "container" ? `${who}: runs, but is not ready` : `${who}: still runs`;
}

/** Warnings if there are any: successful events do not explain why the pod waits. Events that repeat the pod's own status are left out. */
function lastEvents(pod: Pod, events: readonly KubernetesEvent[], said: string): readonly string[] {
  const own = events
    .filter(({ involvedObject: { kind, uid } }) => kind === "Pod" && uid === pod.metadata.uid)
    .toSorted((one, other) => momentOf(one).localeCompare(momentOf(other)));
  const warnings = own.filter(({ type }) => type === "Warning");
  const told = new Set((warnings.length > 0 ? warnings : own).map(words));
  return [...told].filter((event) => !isTold(event, said)).slice(-eventsTold);
}

function isTold(event: string, said: string): boolean {
  if (event.startsWith("BackOff: ")) return said.includes("BackOff");
  return said.includes(event.replace(/^\w+: (Error: )?/, ""));
}

/** ISO times of one form sort as text. */
function momentOf({ lastTimestamp, eventTime, metadata }: KubernetesEvent): string {
  return (lastTimestamp ?? eventTime ?? metadata.creationTimestamp ?? "").slice(0, 19);
}

function words({ reason = "", message = "" }: { readonly reason?: string; readonly message?: string }): string {
  return [reason, message.trim()].filter((text) => text !== "").join(": ");
}

function parenthesis(text: string): string {
  return text === "" ? "" : ` (${text})`;
}
