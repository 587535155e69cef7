import { describe, expect, test } from "@jest/globals";
import { failureIn, faultOf } from "../../../../components/upgrade/kubernetes/componentProof.ts";
import type { NodeKubernetes } from "../../../../components/upgrade/kubernetes/nodeKubernetes.ts";

const image = (version: string) => `registry.k8s.io/kube-apiserver:v${version}`;

/** A control plane whose API server Talos has written for one version, and that runs another. */
function runs(wanted: string, running: string | undefined, { isReady = true, restarts = 0 } = {}): NodeKubernetes {
  const state = isReady ? { running: {} } : { waiting: { reason: "CrashLoopBackOff" } };
  const container = { name: "kube-apiserver", ready: isReady, restartCount: restarts, image: "", state };
  const conditions = [{ type: "Ready", status: isReady ? "True" : "False" }];
  const status = { phase: "Running", conditions, containerStatuses: [container] };
  return {
    wanted: { "kube-apiserver": image(wanted) },
    running: running === undefined ? {} : { "kube-apiserver": image(running) },
    settings: [],
    components: {
      pods: [{ name: "kube-apiserver", manifest: "{}", status, life: "1" }],
      kubelet: { spec: "", version: "1", isHealthy: true },
    },
    talos: "1.13.8",
  };
}
const wanted = { components: ["kube-apiserver"], version: "1.36.1" } as const;

describe("S8.3 the proof that a component runs in a version", () => {
  test.each([
    ["runs in it, ready", runs("1.36.1", "1.36.1"), undefined],
    [
      "has no manifest of it yet",
      runs("1.35.4", "1.35.4"),
      { seen: /has not written it for 1\.36\.1 yet/, isPermanent: false },
    ],
    ["still runs as before", runs("1.36.1", "1.35.4"), { seen: /still runs 1\.35\.4/, isPermanent: false }],
    ["is not reported", runs("1.36.1", undefined), { seen: /does not report its pod yet/, isPermanent: false }],
    ["is starting", runs("1.36.1", "1.36.1", { isReady: false }), { seen: /CrashLoopBackOff/, isPermanent: false }],
    [
      "ends again and again",
      runs("1.36.1", "1.36.1", { isReady: false, restarts: 3 }),
      { seen: /CrashLoopBackOff/, isPermanent: true },
    ],
    [
      "ended again and again in the former one",
      runs("1.36.1", "1.35.4", { isReady: false, restarts: 9 }),
      { seen: /still runs/, isPermanent: false },
    ],
  ])("is its own status: it %s", (_what, now, fault) => {
    const found = faultOf(now, wanted);
    if (fault === undefined) expect(found).toBeUndefined();
    else expect(found).toMatchObject({ seen: expect.stringMatching(fault.seen), isPermanent: fault.isPermanent });
  });

  test("does not need a tag in the status, which may have a digest", () => {
    const now = runs("1.36.1", "1.36.1");
    const running = { "kube-apiserver": "registry.k8s.io/kube-apiserver@sha256:0123" };
    expect(faultOf({ ...now, running }, wanted)).toBeUndefined();
  });
});

describe("S8.3 the words of a component that ended", () => {
  test.each([
    [
      "an error of a flag",
      ["I1 flags.go] FLAG", 'E1120 07:27:40 5555 run.go:72] "command failed" err="feature is locked to true"', ""],
      "feature is locked to true",
    ],
    [
      "an error before the help text",
      ["Error: unknown flag: --gone", "Usage:", "  kube-apiserver [flags]"],
      "Error: unknown flag: --gone",
    ],
    ["a panic", ["goroutine 1", "panic: no memory", "main.main()"], "panic: no memory"],
    ["the last line else", ["one", "two", ""], "two"],
    ["what the runtime adds", ["2026-01-01T00:00:00Z stderr F it ends"], "it ends"],
    ["a secret in it", ["Error: token=abcdef0123 is wrong"], "Error: token=(masked) is wrong"],
  ])("are %s", (_what, lines, words) => {
    expect(failureIn(lines)).toBe(words);
  });

  test("are unknown without a log", () => {
    expect(failureIn([])).toBeUndefined();
  });
});
