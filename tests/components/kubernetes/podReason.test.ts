import { describe, expect, test } from "@jest/globals";
import type { ContainerStatus, KubernetesEvent, Pod } from "../../../components/kubernetes/objects.ts";
import { podReason } from "../../../components/kubernetes/podReason.ts";
import { podsOnW1, recorded } from "../gates/kubernetesLooks.ts";

const container = (state: ContainerStatus["state"], more: Partial<ContainerStatus> = {}): ContainerStatus => ({
  name: "main",
  ready: false,
  restartCount: 0,
  image: "example/main:1",
  ...(state && { state }),
  ...more,
});
const pod = (status: Pod["status"]): Pod => ({
  metadata: { name: "web", uid: "1" },
  spec: { nodeName: "w-1" },
  status: { phase: "Pending", ...status },
});
const event = (type: string, reason: string, second: number, uid = "1"): KubernetesEvent => ({
  metadata: { name: `${reason}-${second}` },
  involvedObject: { kind: "Pod", name: "web", uid },
  type,
  reason,
  message: `said at ${second}`,
  lastTimestamp: `2026-01-01T00:00:0${second}Z`,
});
const why = (one: Pod, events: readonly KubernetesEvent[] = []) => podReason(one, events)?.reason;

describe("S3.2 the reason why a recorded pod is not ready", () => {
  test("is that it waits for its containers", () => {
    const { pod, events } = podsOnW1().held;
    expect(why(pod, events)).toBe(
      `pod ${pod.metadata.name}: container cilium-agent: PodInitializing; last events: Created: Container created; Started: Container started`,
    );
  });

  test("is a crash, with its exit code and how often", () => {
    const { pod, events } = podsOnW1().crash;
    expect(why(pod, events)).toMatch(
      /^pod cilium-\w+: container cilium-agent: CrashLoopBackOff, it ended with 1 \(Error: the process exited with code 1\), restarts: 2$/,
    );
  });

  test("is an image that cannot be pulled, by name", () => {
    const { pod, events } = podsOnW1().image;
    expect(why(pod, events)).toMatch(
      /^pod cilium-\w+: container cilium-agent: ImagePullBackOff: .*cilium:v1\.18\.8: not found; last events: Failed: Failed to pull image [^;]*$/,
    );
  });

  test("is failed scheduling, in the scheduler's words", () => {
    const { pods, events } = recorded<{ pods: Pod[]; events: KubernetesEvent[] }>("unschedulable");
    expect(why(pods[0] as Pod, events)).toMatch(
      /: no node accepts it: Unschedulable: 0\/6 nodes are available: 3 node\(s\) didn't match/,
    );
  });

  test("is absent if it is ready", () => {
    const { pods } = recorded<{ pods: Pod[] }>("cilium");
    expect(pods.map((one) => why(one))).toEqual(pods.map(() => undefined));
  });
});

describe("S5.5 the containers of a pod that end again and again", () => {
  const crashes = (one: Pod) => podReason(one, [])?.crashes;

  test("are those that wait for another start after they ended, and those that have just failed", () => {
    const waiting = container({ waiting: { reason: "CrashLoopBackOff" } });
    const failed = container({ terminated: { exitCode: 1 } }, { name: "side" });
    expect(crashes(pod({ containerStatuses: [waiting, failed] }))).toBe("pod web: main, side");
  });

  test.each<[string, ContainerStatus]>([
    ["that runs, and is not ready", container({ running: {} })],
    ["whose image is pulled", container({ waiting: { reason: "ImagePullBackOff" } })],
    ["that has done its work", container({ terminated: { exitCode: 0 } })],
  ])("do not include one %s", (_, one) => {
    expect(crashes(pod({ containerStatuses: [one] }))).toBeUndefined();
  });
});

describe("S3.2 the reason why a pod is not ready", () => {
  test.each<[string, Pod, string]>([
    [
      "nothing has observed it",
      { ...pod({}), spec: {} },
      "is Pending, and the scheduler has reported nothing about it yet",
    ],
    ["its node is silent", pod({}), "is Pending, and its node has reported nothing about it yet"],
    [
      "it is on its way out",
      { ...pod({ phase: "Running" }), metadata: { name: "web", deletionTimestamp: "now" } },
      "is being deleted",
    ],
    [
      "it was evicted",
      pod({ phase: "Failed", reason: "Evicted", message: "low on memory" }),
      "has ended (Evicted: low on memory)",
    ],
    ["it is done", pod({ phase: "Succeeded" }), "has ended (Succeeded)"],
    [
      "it is not ready yet",
      pod({ phase: "Running", containerStatuses: [container({ running: {} })] }),
      "container main: runs, but is not ready",
    ],
    [
      "it has just ended",
      pod({ phase: "Running", containerStatuses: [container({ terminated: { exitCode: 137, reason: "OOMKilled" } })] }),
      "container main: ended with 137 (OOMKilled)",
    ],
    [
      "an init container works",
      pod({
        initContainerStatuses: [container({ running: {} }, { name: "init" })],
        containerStatuses: [container({ waiting: { reason: "PodInitializing" } })],
      }),
      "init container init: still runs",
    ],
    [
      "an init container failed",
      pod({
        initContainerStatuses: [
          container({ terminated: { exitCode: 0 } }, { name: "one" }),
          container({ terminated: { exitCode: 2, message: "no disk" } }, { name: "two" }),
        ],
      }),
      "init container two: ended with 2 (no disk)",
    ],
    [
      "its image has no message",
      pod({ containerStatuses: [container({ waiting: { reason: "ErrImagePull" } })] }),
      "container main: ErrImagePull (example/main:1)",
    ],
  ])("%s", (_, one, reason) => {
    expect(why(one)).toBe(`pod web: ${reason}`);
  });

  test("has its last two warnings, or its last two events without any, and none of another pod", () => {
    const normal = [event("Normal", "Pulled", 3), event("Normal", "Scheduled", 1), event("Normal", "Pulling", 2)];
    const others = [event("Warning", "Failed", 9, "2")];
    const warnings = [
      event("Warning", "FailedMount", 2),
      event("Warning", "BackOff", 4),
      event("Warning", "Unhealthy", 1),
    ];
    const told = (events: readonly KubernetesEvent[]) => why(pod({}), events)?.split("; last events: ")[1];
    expect(told([...normal, ...others])).toBe("Pulling: said at 2; Pulled: said at 3");
    expect(told([...normal, ...warnings, ...others])).toBe("FailedMount: said at 2; BackOff: said at 4");
  });

  test("is permanent only if waiting cannot help: an invalid image name", () => {
    const named = (reason: string) =>
      podReason(pod({ containerStatuses: [container({ waiting: { reason } })] }), [])?.isPermanent;
    expect(["InvalidImageName", "ErrImagePull", "CrashLoopBackOff"].map(named)).toEqual([true, false, false]);
  });
});
