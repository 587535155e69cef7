// Why a pod is not ready, in the words of who keeps it from being so.
import type { ContainerStatus, KubernetesEvent, Pod } from "../kubernetes/objects.ts";

export interface PodReason {
  readonly reason: string;
  /** Whether no waiting mends it. */
  readonly final: boolean;
}

/** How many of a pod's events are told, the last ones. */
const eventsTold = 2;

/** Undefined when the pod is ready. */
export function podReason(pod: Pod, events: readonly KubernetesEvent[]): PodReason | undefined {
  const said = stateReason(pod);
  if (said === undefined) return undefined;
  const lately = lastEvents(pod, events, said);
  const reason = [
    `pod ${pod.metadata.name}: ${said}`,
    ...(lately.length === 0 ? [] : [`last events: ${lately.join("; ")}`]),
  ];
  return { reason: reason.join("; "), final: /\bInvalidImageName\b/.test(said) };
}

function stateReason({ metadata, spec, status = {} }: Pod): string | undefined {
  if (metadata.deletionTimestamp !== undefined) return "is being deleted";
  const condition = (type: string) => status.conditions?.find((one) => one.type === type);
  const isReady = condition("Ready")?.status === "True";
  if (isReady && status.phase === "Running") return undefined;
  const scheduled = condition("PodScheduled");
  if (scheduled?.status === "False") return `no node takes it: ${words(scheduled)}`;
  if (status.phase === "Failed" || status.phase === "Succeeded") return `has ended (${words(status) || status.phase})`;
  const containers = [
    ...(status.initContainerStatuses ?? []).map((one) => containerReason(one, "init container")),
    ...(status.containerStatuses ?? []).map((one) => containerReason(one, "container")),
  ].filter((one) => one !== undefined);
  // The first that does not wait for another is the one that the others wait for.
  const telling = containers.find((one) => !/: (PodInitializing|ContainerCreating)$/.test(one));
  const who = spec?.nodeName === undefined ? "the scheduler" : "its node";
  return telling ?? containers[0] ?? `is ${status.phase ?? "Pending"}, and ${who} has said nothing of it yet`;
}

function containerReason(container: ContainerStatus, kind: string): string | undefined {
  const { name, ready, restartCount, image, state = {}, lastState = {} } = container;
  const who = `${kind} ${name}`;
  if (state.waiting !== undefined) {
    const before = lastState.terminated;
    const ended = before === undefined ? "" : `, it ended with ${before.exitCode}${parenthesis(words(before))}`;
    const again = restartCount === 0 ? "" : `, restarts: ${restartCount}`;
    // Beside why it ended, the back-off's own words only repeat who it is and how long it waits.
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

/** Warnings, where there are any: what went well before or after does not tell why it waits. What the pod says itself is not told again. */
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

/** ISO times of one form sort as texts. */
function momentOf({ lastTimestamp, eventTime, metadata }: KubernetesEvent): string {
  return (lastTimestamp ?? eventTime ?? metadata.creationTimestamp ?? "").slice(0, 19);
}

function words({ reason = "", message = "" }: { readonly reason?: string; readonly message?: string }): string {
  return [reason, message.trim()].filter((text) => text !== "").join(": ");
}

function parenthesis(text: string): string {
  return text === "" ? "" : ` (${text})`;
}
