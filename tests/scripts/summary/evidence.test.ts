import { describe, expect, test } from "@jest/globals";
import { gateNames } from "../../../components/gates/registry.ts";
import { phraseOf, short } from "../../../scripts/summary/evidence.ts";

const nodes = ["cp-1", "w-1"];
const machines = { "cp-1": "uuid", "w-1": "other" };
const revision = `main@sha1:${"9b0b4cb8".repeat(5)}`;

const seen: Readonly<Record<string, readonly [object, string]>> = {
  Preflight: [{ machines }, "2 machines, each the one meant"],
  Stages: [{ nodes }, "2 nodes with their configs"],
  Etcd: [{ members: ["cp-1"], alarms: 0 }, "1 voting member, no alarm"],
  TalosServices: [{ services: { "cp-1": "etcd kubelet", "w-1": "kubelet" } }, "3 services healthy on 2 nodes"],
  VirtualAddress: [{ address: "10.0.0.20", controlPlanes: ["cp-1", "cp-2"] }, "10.0.0.20 is up, shared by cp-1, cp-2"],
  KubernetesApi: [{ server: "https://192.0.2.1:6443" }, "ready at https://192.0.2.1:6443"],
  NodesJoined: [{ machines }, "2 nodes, each the machine meant"],
  CiliumReady: [{ nodes, images: { agent: "quay.io/cilium/cilium:v1.18.8@sha256:00" } }, "Cilium v1.18.8 on 2 nodes"],
  NodesReady: [{ kubelets: { "cp-1": "v1.36.4", "w-1": "v1.36.4" } }, "2 nodes Ready, kubelet v1.36.4"],
  CsiReady: [{ drivers: ["csi.one"], nodes, volume: "10Gi was bound" }, "csi.one on 2 nodes, a volume mounted"],
  SealedSecretsReady: [
    { images: { controller: "sealed:0.39.1" }, certificate: "F6:D7:DC:B6:0D" },
    "version 0.39.1, our key F6:D7:DC:B6…",
  ],
  GitOpsReady: [{ revisions: { apps: revision, "flux-system": revision } }, "apps, flux-system at main@sha1:9b0b4cb8"],
};

describe("what a gate saw", () => {
  test.each(gateNames)("is told in a few words: %s", (gate) => {
    const [evidence, phrase] = seen[gate] ?? [];
    expect(phraseOf(gate, { ...evidence })).toBe(phrase);
  });

  test("is told without a volume, and without a key that was asked for", () => {
    expect(phraseOf("CsiReady", { drivers: ["csi.one"], nodes })).toBe("csi.one on 2 nodes");
    expect(phraseOf("SealedSecretsReady", { images: { controller: "sealed:1" } })).toBe("version 1, a key of its own");
  });

  test("is read from whatever an older or newer version has kept, and never fails", () => {
    for (const gate of [...gateNames, "Unheard"]) {
      for (const evidence of [{}, { nodes: 7, machines: null, images: [], revisions: "x" }]) {
        expect(typeof phraseOf(gate, evidence)).toBe("string");
      }
    }
  });
});

test("a revision is shortened to what tells it from others", () => {
  expect(short(revision)).toBe("main@sha1:9b0b4cb8");
  expect(short("v1.2.3")).toBe("v1.2.3");
  expect(short(undefined)).toBe("");
});
