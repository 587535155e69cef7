import { describe, expect, test } from "@jest/globals";
import { csiReady } from "../../../components/gates/csiReady.ts";
import { credentials, look, nodes, recorded, verdicts } from "./kubernetesLooks.ts";

type Look = Parameters<typeof csiReady.evidence>[0];
const healthy = () => look(recorded<Omit<Look, "unreachable">>("csi")) as Look;
const inputs = {
  credentials,
  driver: "csi.hetzner.cloud",
  namespace: "kube-system",
  controller: "hcloud-csi-controller",
  nodePlugin: "hcloud-csi-node",
  nodes,
};
const podOf = (name: string) => ({ spec: { containers: [{ name, image: `example.org/${name}:v1` }] } });
const judge = (seen: Look) => verdicts(csiReady.conditions(inputs), seen);

describe("S3.2 the gate CsiReady", () => {
  test("opens on a healthy cluster, with the driver and its nodes as evidence", () => {
    expect(judge(healthy())).toEqual([]);
    expect(csiReady.evidence(healthy(), inputs)).toMatchObject({
      drivers: ["csi.hetzner.cloud"],
      nodes,
      images: { "hcloud-csi-driver": "docker.io/hetznercloud/hcloud-csi-driver:v2.19.0" },
    });
  });

  test("ignores other drivers, other programs and unexpected nodes", () => {
    const seen = healthy();
    const [deployment] = seen.deployments;
    const [csiNode] = seen.csiNodes;
    if (deployment === undefined || csiNode === undefined) throw new Error("nothing recorded");
    const also = <T extends { metadata: object }>(one: T, name: string): T => ({
      ...one,
      metadata: { ...one.metadata, name },
    });
    const other = { metadata: { name: "smb.csi.k8s.io" } };
    const evidence = csiReady.evidence(
      {
        ...seen,
        drivers: [...seen.drivers, other],
        deployments: [
          also({ ...deployment, spec: { ...deployment.spec, template: podOf("csi-smb") } }, "csi-smb"),
          ...seen.deployments,
        ],
        csiNodes: [
          ...seen.csiNodes.map((one) =>
            one.metadata.name === "w-1" ? { ...one, spec: { drivers: [{ name: other.metadata.name }] } } : one,
          ),
          also(csiNode, "old-1"),
        ],
      },
      inputs,
    );
    expect(evidence).toEqual({ ...csiReady.evidence(seen, inputs), nodes: ["cp-1", "w-2"] });
  });

  test("waits for the driver, the controller, the plugin on each node and the kubelets, and names what is missing", () => {
    const seen = healthy();
    expect(
      judge({
        ...seen,
        drivers: [],
        deployments: [],
        pods: seen.pods.filter(({ spec }) => spec?.nodeName !== "w-1"),
        csiNodes: seen.csiNodes.map((one) => (one.metadata.name === "w-2" ? { ...one, spec: { drivers: null } } : one)),
      }),
    ).toMatchObject([
      { kind: "pending", where: "CSIDriver csi.hetzner.cloud", reason: "does not exist" },
      { kind: "pending", where: "Deployment hcloud-csi-controller", reason: "does not exist" },
      { kind: "pending", where: "w-1", reason: "has no pod of DaemonSet hcloud-csi-node" },
      { kind: "pending", where: "w-2", reason: "its CSINode does not list csi.hetzner.cloud" },
    ]);
  });

  test("tries a volume only if csi.probe is on", () => {
    const probe = { storageClass: "hcloud-volumes", size: "10Gi", image: "registry.k8s.io/pause:3.10" };
    expect(csiReady.trial?.(inputs)).toBeUndefined();
    expect(csiReady.trial?.({ ...inputs, probe })).toMatchObject({ timeoutCode: "SLU-K113" });
  });
});

test("the evidence of CsiReady in a few words", () => {
  expect(csiReady.words({ drivers: ["csi.one"], nodes: ["cp-1", "w-1"], volume: "10Gi was bound" })).toBe(
    "csi.one on 2 nodes, a volume mounted",
  );
  expect(csiReady.words({ drivers: ["csi.one"], nodes: ["cp-1", "w-1"] })).toBe("csi.one on 2 nodes");
});
