import { describe, expect, test } from "@jest/globals";
import { gateDelay } from "../../../../scripts/summary/timing/delays.ts";
import { at, opened, timeline } from "../runs.ts";

const about = {
  isControlPlane: (subject: string) => subject.startsWith("cp"),
  isEndpoint: (subject: string) => subject === "cp-1",
};
const delay = (line: ReturnType<typeof opened>, facts: readonly string[], proof = 0) =>
  gateDelay(line, timeline(...facts), about, proof);

describe("the delay of a gate", () => {
  test("is the time from the last fact that it needs until it opened, beyond the stability window", () => {
    const facts = ["1 cp-1 etcd voter", "3 cp-2 etcd voter", "4 cp-2 service healthy id=etcd"];
    expect(delay(opened("Etcd", [0, 3.2, 8.25, 5]), facts)).toBeCloseTo(0.25);
  });

  test("counts from the start of the gate, if all its facts were true before", () => {
    expect(delay(opened("Etcd", [10, 10.1, 15.1, 5]), ["1 cp-1 etcd voter"])).toBeCloseTo(0.1);
  });

  test("is not reduced by facts that became true during the stability window", () => {
    const facts = ["1 cp-1 etcd voter", "4 cp-2 etcd voter"];
    expect(delay(opened("Etcd", [0, 1.3, 6.3, 5]), facts)).toBeCloseTo(0.3);
  });

  test("is zero if the lab recorded the fact a little later than it was observed", () => {
    expect(delay(opened("Etcd", [0, 3, 8, 5]), ["3.05 cp-1 etcd voter"])).toBe(0);
  });

  test("ends when whatever depends on the gate can start", () => {
    const line = { ...opened("Etcd", [0, 3, 8, 5]), ended: at(8.4) };
    expect(delay(line, ["3 cp-1 etcd voter"])).toBeCloseTo(0.4);
  });

  test("includes that of the trial, from the fact with which the trial ends", () => {
    const facts = [
      "2 w-1 pod ready pod=kube-system/hcloud-csi-node-",
      "2.5 w-1 csi registered driver=csi.hetzner.cloud",
      "9 w-1 pod deleted pod=kube-system/sluice-volume-probe",
      "9.5 csi volume deleted",
    ];
    expect(delay(opened("CsiReady", [0, 2.6, 7.6, 5], [7.6, 9.7, 9.7, 0]), facts)).toBeCloseTo(0.3);
  });

  test("counts from when controllers report a Deployment, which is later than its pods", () => {
    const facts = [
      "2 w-1 pod ready pod=kube-system/sealed-secrets-controller-6446f99-",
      "3 cluster deployment available deployment=kube-system/sealed-secrets-controller",
      "3.1 cluster deployment available deployment=hello/sealed-secrets-controller",
    ];
    expect(delay(opened("SealedSecretsReady", [0, 3.1, 8.2, 5]), facts)).toBeCloseTo(0.2);
  });

  test("leaves out the time for several answers in a row", () => {
    const facts = [
      "2 cp-1 pod ready pod=kube-system/kube-apiserver",
      "3 cp-2 pod ready pod=kube-system/kube-apiserver",
    ];
    expect(delay(opened("KubernetesApi", [0, 2.5, 7.5, 5]), facts, 0.4)).toBeCloseTo(0.1);
  });

  test("requires less of a control plane than of a worker before the bootstrap", () => {
    const facts = ["1 cp-1 stage booting", "2 cp-1 api apid", "2.1 w-1 stage booting", "3 w-1 stage running"];
    expect(delay(opened("Stages", [0, 3.1, 3.1, 0]), facts)).toBeCloseTo(0.1);
  });

  test("counts until nodes have lost the taints, not only until they are Ready", () => {
    const facts = ["1 w-1 node ready", "1.8 w-1 taints gone", "2 w-1 cloud initialized"];
    expect(delay(opened("NodesReady", [0, 2.1, 2.1, 0]), facts)).toBeCloseTo(0.1);
  });

  test("is undefined for a gate without its own facts, and for one that failed", () => {
    expect(delay(opened("Unheard", [0, 1, 1, 0]), [])).toBeUndefined();
    expect(delay({ ...opened("Etcd", [0, 1, 1, 0]), outcome: "failed" }, [])).toBeUndefined();
  });
});
