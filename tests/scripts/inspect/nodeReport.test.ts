import { describe, expect, test } from "@jest/globals";
import { isHealthy, type NodeReport, statusLines } from "../../../scripts/inspect/nodeReport.ts";

const schematic = "376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba";
const controlPlane: NodeReport = {
  ...{ name: "cp-1", role: "controlplane", reachable: "yes", stage: "running", version: "1.13.8", schematic },
  ...{ config: "in sync", etcd: "voter", ready: "yes", remarks: [] },
};
const worker: NodeReport = { ...controlPlane, name: "w-1", role: "worker", etcd: "" };
const silent: NodeReport = {
  ...{
    name: "w-2",
    role: "worker",
    reachable: "no",
    stage: "",
    version: "",
    schematic: "",
    config: "",
    etcd: "",
    ready: "",
  },
  remarks: ["does not answer at 10.0.0.22: no answer within 3 s"],
};

describe("the status of nodes (S6.3)", () => {
  test("is a table, and below it what is not as it should be", () => {
    expect(statusLines([controlPlane, worker, silent])).toEqual([
      "Node  Reached  Stage    Talos   Schematic  Config   etcd   Ready",
      "cp-1  yes      running  1.13.8  37656798   in sync  voter  yes",
      "w-1   yes      running  1.13.8  37656798   in sync  -      yes",
      "w-2   no       -        -       -          -        -      -",
      "",
      "w-2: does not answer at 10.0.0.22: no answer within 3 s",
    ]);
  });

  test("fits 80 columns with the longest words and a long name", () => {
    const widest = {
      name: "worker-of-the-second-floor",
      stage: "maintenance",
      version: "1.13.0-beta.1",
      etcd: "learner",
    } as const;
    const lines = statusLines([{ ...controlPlane, ...widest, config: "differs" }]);
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
  });

  test.each<[string, NodeReport, boolean]>([
    ["a control plane that votes", controlPlane, true],
    ["a worker, which has no etcd", worker, true],
    ["a node that does not answer", silent, false],
    ["a learner", { ...controlPlane, etcd: "learner" }, false],
    ["another config", { ...worker, config: "differs" }, false],
    ["a node that boots", { ...worker, stage: "booting" }, false],
    ["a Node that is not Ready", { ...worker, ready: "no" }, false],
    ["another Talos", { ...worker, remarks: ["runs Talos 1.12.6, not 1.13.8"] }, false],
  ])("of %s is healthy: %p", (_, report, expected) => {
    expect(isHealthy(report)).toBe(expected);
  });
});
