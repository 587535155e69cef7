import { describe, expect, test } from "@jest/globals";
import type { TalosService } from "../../../../components/talos/client/talosClient.ts";
import {
  type EtcdJudgement,
  type EtcdObservation,
  judgeEtcd,
  nextStep,
} from "../../../../components/talos/etcd/etcdJudgement.ts";

/** A service whose last event is this one; `startedMs` is when Talos started it, by the node's clock. */
function service(id: string, state: string, message: string, startedMs: number): TalosService {
  const events = [
    { state: "Starting", message: "Starting service", atMs: startedMs },
    { state, message, atMs: startedMs + 900 },
  ];
  return { id, state, message, events };
}

const cri = { ...service("cri", "Running", "Health check successful", 1_000), healthy: true };
/** Talos starts it with the boot, or on a bootstrap. */
const ofBoot = (state: string, message: string) => service("etcd", state, message, 1_010);
const ofBootstrap = (state: string, message: string) => service("etcd", state, message, 90_000);

const image = { name: "registry/etcd:v1", isPulled: true, lastLine: "" };
const pulling = { ...image, isPulled: false, lastLine: "pulling image registry/etcd:v1: starting..." };
const failing = { ...image, isPulled: false, lastLine: 'retrying error: failed to pull image "registry/etcd:v1"' };
const none = { kind: "none" };

function seen(etcd: TalosService | undefined, more: Partial<EtcdObservation> = {}): EtcdObservation {
  return { etcd, cri, hasData: false, stage: "booting", image, requests: 0, quietSeconds: 0, ...more };
}

const waiting = ofBoot("Preparing", "Running pre state");
const starting = ofBootstrap("Preparing", "Running pre state");
const cancelled112 = ofBoot("Failed", "Failed to run pre stage: context canceled");
const cancelled113 = ofBoot("Finished", "Service finished successfully");
const requested = ofBoot("Finished", "Bootstrap requested");
const flapping = { ...starting, events: Array.from({ length: 64 }, () => ({ state: "", message: "", atMs: 1 })) };

describe("S5.1 the etcd of a control plane", () => {
  test.each<[string, EtcdObservation, unknown]>([
    ["that Talos has not come to is unknown", seen(undefined), { kind: "unknown" }],
    ["that is healthy is healthy", seen({ ...starting, state: "Running", healthy: true }), { kind: "healthy" }],
    [
      "that runs and is unhealthy is busy, with Talos' words",
      seen({ ...ofBootstrap("Running", "Health check failed: no leader"), healthy: false }),
      { kind: "busy", why: "etcd is Running: Health check failed: no leader" },
    ],
    ["that waits to be bootstrapped is none at once", seen(waiting), none],
    ["that waits while its image is pulled is none at once", seen(waiting, { image: pulling }), none],
    ["that waits for the clock is busy", seen(ofBoot("Waiting", "Waiting for time sync")), { kind: "busy" }],
    [
      "that waits with a bootstrap call in the log is busy: the call may be at work",
      seen(waiting, { requests: 1, quietSeconds: 9 }),
      { kind: "busy" },
    ],
    [
      "that waits ten seconds after a call is none: the call was refused",
      seen(waiting, { requests: 1, quietSeconds: 10 }),
      none,
    ],
    ["of a bootstrap that starts is busy", seen(starting, { quietSeconds: 59 }), { kind: "busy", code: "SLU-T207" }],
    [
      "of a bootstrap whose image is pulled is busy for however long, with the words of the pull",
      seen(starting, { image: failing, quietSeconds: 900 }),
      { kind: "busy", why: `etcd is Preparing: ${failing.lastLine}`, code: "SLU-T218" },
    ],
    [
      "whose pull Talos does not report is busy, with the image's name",
      seen(starting, { image: { ...pulling, lastLine: "" } }),
      { why: "etcd is Preparing: pulls registry/etcd:v1" },
    ],
    ["that does not start for a minute with its image there is none", seen(starting, { quietSeconds: 60 }), none],
    ["with more events than Talos keeps is doubtful", seen(flapping), { kind: "busy" }],
    ["beside containers that never ran is doubtful", seen(waiting, { cri: undefined }), { kind: "busy" }],
    [
      "whose container is created is busy",
      seen(ofBootstrap("Preparing", "Creating service runner"), { quietSeconds: 900 }),
      { kind: "busy" },
    ],
    ["that starts again with its data is busy", seen(waiting, { hasData: true }), { kind: "busy", code: "SLU-T207" }],
    [
      "that starts again with its data and no image is busy with the pull",
      seen(waiting, { hasData: true, image: pulling }),
      { kind: "busy", code: "SLU-T218" },
    ],
    ["that failed a moment ago is busy", seen(cancelled112, { quietSeconds: 9 }), { kind: "busy" }],
    [
      "that failed without data is none, with Talos' words (1.12)",
      seen(cancelled112, { quietSeconds: 10 }),
      { kind: "none", failed: "etcd is Failed: Failed to run pre stage: context canceled" },
    ],
    [
      "that finished without data is none, with Talos' words (1.13)",
      seen(cancelled113, { quietSeconds: 10 }),
      { kind: "none", failed: "etcd is Finished: Service finished successfully" },
    ],
    ["that a bootstrap stopped a moment ago is busy", seen(requested, { hasData: true }), { kind: "busy" }],
    [
      "that a second bootstrap stopped with its data is stopped",
      seen(requested, { hasData: true, quietSeconds: 10 }),
      { kind: "stopped", why: "etcd is Finished: Bootstrap requested" },
    ],
    [
      "that is stopped on a node that goes down is busy",
      seen(requested, { hasData: true, quietSeconds: 10, stage: "rebooting" }),
      { kind: "busy" },
    ],
    [
      "that failed with its data is busy, with Talos' words: it is never bootstrapped",
      seen(ofBoot("Failed", "its disk is full"), { hasData: true, quietSeconds: 900 }),
      { kind: "busy", why: "etcd is Failed: its disk is full" },
    ],
  ])("%s", (_, observation, judgement) => {
    expect(judgeEtcd(observation)).toMatchObject(judgement as object);
  });
});

describe("S5.1 the next step of a bootstrap", () => {
  const healthy: EtcdJudgement = { kind: "healthy", why: "" };
  const busy: EtcdJudgement = { kind: "busy", why: "it starts", code: "SLU-T207" };
  const unknown: EtcdJudgement = { kind: "unknown", why: "no answer" };
  const stopped: EtcdJudgement = { kind: "stopped", why: "it was stopped" };
  const no: EtcdJudgement = { kind: "none" };
  const failed: EtcdJudgement = { kind: "none", failed: "it failed" };

  test.each<[string, readonly EtcdJudgement[], unknown]>([
    ["is the call if no control plane has an etcd", [no, no, no], { kind: "call" }],
    ["is the call again if the first start failed", [failed, no], { kind: "call", failed: "it failed" }],
    [
      "is none if an etcd is healthy, whatever the others are",
      [unknown, stopped, healthy],
      { kind: "done", node: "3" },
    ],
    ["is a wait while an etcd may be starting anywhere", [no, busy, unknown], { kind: "wait", node: "2" }],
    ["is a wait while one is unknown", [no, failed, unknown], { kind: "wait", node: "3", code: "SLU-T204" }],
    ["is a reboot of the only etcd there is, if it was stopped", [no, stopped], { kind: "reboot", node: "2" }],
    [
      "is no reboot while another etcd may run",
      [stopped, unknown],
      { kind: "wait", node: "1", code: "SLU-T219", why: expect.stringContaining("2: no answer") },
    ],
    ["is no reboot while another etcd starts", [stopped, busy], { kind: "wait", node: "2" }],
    ["is a failure if two were stopped", [stopped, stopped], { kind: "fail", code: "SLU-T219" }],
  ])("%s", (_, judgements, step) => {
    expect(nextStep(judgements.map((etcd, place) => ({ name: `${place + 1}`, etcd })))).toMatchObject(step as object);
  });
});
