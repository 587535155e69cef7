// Recorded events of refreshes on a lab, reduced to the parts that are read.
import { readFileSync } from "node:fs";
import { describe, expect, test } from "@jest/globals";
import { driftHeadline, driftReport, exitCodes, readDrift, withOrphans } from "../../../scripts/drift/report.ts";

const recorded = (name: string) => readFileSync(`tests/fixtures/drift/${name}.jsonl`, "utf8");
const log = (...events: object[]) => events.map((event) => `${JSON.stringify(event)}\n`).join("");

const urn = (type: string, name: string) => `urn:pulumi:home::sluice::sluice:machines:Some$${type}::${name}`;
const outputs = (op: string, type: string, name: string, more: object = {}) => ({
  resOutputsEvent: { metadata: { op, urn: urn(type, name), type, ...more } },
});
const said = (severity: string, message: string, type?: string, name?: string) => ({
  diagnosticEvent: { severity, message, ...(type !== undefined && name !== undefined && { urn: urn(type, name) }) },
});
const end = { summaryEvent: { resourceChanges: {} } };
const server = "hcloud:index/server:Server";
const node = "pulumi-nodejs:dynamic/talos:AppliedMachineConfig";

describe("U3 what a refresh recorded is read as", () => {
  test("no drift if nothing has changed", () => {
    expect(readDrift(log(outputs("same", server, "home-w-1"), end), "")).toEqual({ state: "none" });
  });

  test("drift, a line for each finding, and what several gates report only once", () => {
    const firewall =
      'rules[2] is {"description":"ssh","destinationIps":[],"direction":"in","port":"22","protocol"..., and should not be there';
    expect(readDrift(recorded("changedByHand"), "")).toEqual({
      state: "found",
      drifts: [
        `firewall test-apis: ${firewall}`,
        "gate CiliumReady: w-1: has no pod of DaemonSet cilium",
        "gate Etcd: cp-3: is not a member: etcd is not running",
        "gate GitOpsReady: Kustomization flux-system: is suspended: changes in git are not applied",
        expect.stringMatching(/^gate NodesReady: w-1: KubeletNotReady: .* cni plugin not initialized$/),
        "gate Preflight: w-2: runs Talos 1.12.6; its config is made for 1.13.8",
        expect.stringMatching(
          /^gate SealedSecretsReady: Deployment sealed-secrets-controller: does not serve its certificate: 503 /,
        ),
        'node w-1: machine config: machine.sysctls."net.ipv4.ip_forward" is 1, and should not be there',
        "node w-2: runs Talos 1.12.6, not 1.13.8",
        "secret test-sealed-secrets-key: is gone",
        "server test-w-2: deleteProtection is true, and should be false",
        "server test-w-2: labels.cluster is missing, and should be test",
        "server test-w-2: labels.node is missing, and should be w-2",
        "server test-w-2: labels.role is missing, and should be worker",
        "server test-w-2: labels.strange is yes, and should not be there",
        "server test-w-2: and 1 more",
      ],
      unseen: [],
    });
  });

  test("apart from drift, what could not be checked: a node that is off, and everything that needs an API without etcd [C32]", () => {
    const drift = readDrift(recorded("quorumLost"), "");
    expect(drift).toMatchObject({
      state: "found",
      unseen: [
        "node cp-2: does not answer: no answer within 3 s. Its last known state is kept.",
        expect.stringMatching(
          /^release test-cilium-release, secret test-hcloud-secret, .*: query: .* \(Client\.Timeout exceeded while awaiting headers\)$/,
        ),
      ],
    });
    expect("drifts" in drift && drift.drifts).toContain(
      "gates Preflight, Stages, Etcd, TalosServices: cp-2: does not answer: no answer within 3 s",
    );
  });

  test("apart from drift, what is on an unreachable host: each once, in the plugin's words; what the plugin reports as gone has the reason", () => {
    const vm = "proxmoxve:index/vmLegacy:VmLegacy";
    const file = "proxmoxve:download/file:File";
    const dead = "received an HTTP 595 response - Reason: No route to host";
    const events = log(
      said(
        "error",
        `sdk-v2/provider2.go:571: sdk.helper_schema: error retrieving VM 321: ${dead}: provider=proxmoxve@8.6.0`,
        vm,
        "home-w-1",
      ),
      said("error", "update failed: refreshing home-w-1: 1 error occurred:\n\t* it", vm, "home-w-1"),
      said(
        "warning",
        `[WARNING] unexpected error when listing datastore files: ${dead}: The file does not exist`,
        file,
        "home-image",
      ),
      outputs("delete", file, "home-image"),
      said("error", "update failed"),
      end,
    );
    expect(readDrift(events, "")).toEqual({
      state: "found",
      drifts: [
        `file home-image: is gone: unexpected error when listing datastore files: ${dead}: The file does not exist`,
      ],
      unseen: [`vm home-w-1: error retrieving VM 321: ${dead}`],
    });
  });

  test("neither drift nor health if a node could not be checked", () => {
    const silent = "w-1 does not answer: no answer within 3 s. Its last known state is kept.\n";
    const events = log(
      outputs("same", node, "home-w-1", { new: { outputs: { node: "w-1" } } }),
      said("warning", silent, node, "home-w-1"),
      said("info", "w-1: looks", node, "home-w-1"),
      end,
    );
    expect(readDrift(events, "")).toEqual({
      state: "unseen",
      unseen: ["node w-1: does not answer: no answer within 3 s. Its last known state is kept."],
    });
  });

  test("both, for a node that drifted before and does not answer now", () => {
    const seen = { node: "w-1", drift: ["runs Talos 1.12.6, not 1.13.8"] };
    const events = log(
      outputs("update", node, "home-w-1", { new: { outputs: seen } }),
      said("warning", "w-1 does not answer: no answer. Its last known state is kept.", node, "home-w-1"),
      end,
    );
    expect(readDrift(events, "")).toEqual({
      state: "found",
      drifts: ["node w-1: runs Talos 1.12.6, not 1.13.8"],
      unseen: ["node w-1: does not answer: no answer. Its last known state is kept."],
    });
  });

  test("failed if the engine did not complete", () => {
    const cut = log(outputs("update", server, "home-w-1"));
    expect(readDrift(cut, "error: the stack is locked\n")).toEqual({
      state: "failed",
      text: "error: the stack is locked",
    });
    expect(readDrift("", "sh: pulumi: not found")).toMatchObject({ state: "failed" });
  });

  test("failed if an error belongs to no resource", () => {
    const events = log(outputs("same", server, "home-w-1"), said("error", "no such plugin"), end);
    expect(readDrift(events, "")).toEqual({ state: "failed", text: "no such plugin" });
  });

  test("one finding if no resource of a provider could be checked", () => {
    const refused = "<{%reset%}>Preview failed: unable to authenticate (unauthorized)<{%reset%}>\n";
    const events = log(
      outputs("same", "sluice:talos:MachineSecrets", "home"),
      said("error", refused, server, "home-w-1"),
      said("error", refused, server, "home-w-2"),
      said("error", "preview failed"),
      end,
    );
    expect(readDrift(events, "")).toEqual({
      state: "unseen",
      unseen: ["server home-w-1, server home-w-2: unable to authenticate (unauthorized)"],
    });
  });
});

describe("U3 in the description of a difference", () => {
  const secret = { "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", ciphertext: "[secret]" };
  const drifts = (type: string, metadata: object) => {
    const drift = readDrift(log(outputs("update", type, "a", metadata), end), "");
    return "drifts" in drift ? drift.drifts : [];
  };

  test("a secret is not shown, and a key with dots is found", () => {
    const metadata = {
      old: { outputs: { data: { "tls.key": secret }, size: 4 } },
      new: { outputs: { data: { "tls.key": secret }, size: 8 } },
      detailedDiff: { 'data["tls.key"]': {}, size: {}, other: {} },
    };
    expect(drifts("kubernetes:core/v1:Secret", metadata)).toEqual([
      'secret a: data["tls.key"] differs (secret value)',
      "secret a: size is 8, and should be 4",
      "secret a: other differs",
    ]);
  });

  test("a resource whose provider reports no paths differs", () => {
    expect(drifts("hcloud:index/loadBalancerService:LoadBalancerService", { detailedDiff: null })).toEqual([
      "load balancer service a: differs",
    ]);
  });
});

describe("U3 S5.3 what exists and is in no state", () => {
  const orphan = "server home-w-3 (id 7)";
  test.each<[string, Parameters<typeof withOrphans>[0], object]>([
    [
      "is drift where there is no other",
      { state: "none" },
      { state: "found", drifts: [`${orphan}: exists and is in no state`], unseen: [] },
    ],
    [
      "comes after what drifted, and hides nothing",
      { state: "found", drifts: ["server a: gone"], unseen: ["b"] },
      { state: "found", drifts: ["server a: gone", `${orphan}: exists and is in no state`], unseen: ["b"] },
    ],
    ["leaves a comparison that failed as it is", { state: "failed", text: "no" }, { state: "failed", text: "no" }],
  ])("%s", (_, drift, expected) => {
    expect(withOrphans(drift, [orphan])).toEqual(expected);
    expect(withOrphans(drift, [])).toBe(drift);
  });
});

describe("U3 the report", () => {
  test("is the headline, then the drift, then what could not be checked, then what to type", () => {
    const drift = { state: "found", drifts: ["node w-1: is off"], unseen: ["node w-2: does not answer"] } as const;
    expect(driftReport("home", drift).split("\n")).toEqual([
      "home: drift: 1 difference",
      "",
      "Drifted:",
      "  node w-1: is off",
      "",
      "Could not be checked, and stays as it was:",
      "  node w-2: does not answer",
      "",
      "To see what 'up' would change: npm run preview -- home --refresh. To fix it: npm run up -- home --refresh.",
    ]);
  });

  test("has a headline of one line", () => {
    expect(driftHeadline("home", { state: "none" })).toBe("home: no drift");
    expect(driftHeadline("home", { state: "unseen", unseen: ["a", "b"] })).toBe(
      "home: no drift in what could be checked; 2 resources could not be",
    );
    expect(driftReport("home", { state: "failed", text: "why" })).toBe(
      "home: the comparison with its state failed\n\nwhy",
    );
  });

  test("has an exit code for each state", () => {
    expect(exitCodes).toEqual({ none: 0, failed: 1, found: 2, unseen: 3 });
  });
});
