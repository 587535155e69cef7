import { expect, test } from "@jest/globals";
import { withoutCluster } from "../../../scripts/newCluster/withoutCluster.ts";

const bootstrap = { urn: "urn:boot", type: "pulumi-nodejs:dynamic/talos:Bootstrap", id: "bootstrap" };
const release = { urn: "urn:cilium", type: "kubernetes:helm.sh/v3:Release", deletedWith: "urn:boot" };
const gate = { urn: "urn:gate", type: "pulumi-nodejs:dynamic/gates:CiliumReady", dependencies: ["urn:cilium"] };
const server = { urn: "urn:server", type: "hcloud:index/server:Server", id: "1", dependencies: ["urn:network"] };

test("S1.6 a state loses the bootstrap of a lost cluster, what was in it and its gates, and keeps machines, secrets and providers", () => {
  const secrets = { urn: "urn:secrets", type: "talos:machine/secrets:Secrets" };
  const provider = {
    urn: "urn:provider",
    type: "pulumi:providers:kubernetes",
    dependencies: ["urn:secrets", "urn:gate"],
  };
  const deployment = { manifest: { version: "3" }, resources: [secrets, server, bootstrap, release, gate, provider] };
  expect(withoutCluster(deployment)).toEqual({
    manifest: { version: "3" },
    resources: [secrets, server, { ...provider, dependencies: ["urn:secrets"] }],
  });
});

test("S1.6 what stays in the state refers to nothing that has left it, which the engine would refuse", () => {
  const address = { urn: "urn:address", type: "proxmoxve:x:User", deletedWith: "urn:server" };
  const mixed = {
    ...{ urn: "urn:mixed", type: "talos:cluster/kubeconfig:Kubeconfig", deletedWith: "urn:boot" },
    dependencies: ["urn:boot", "urn:server"],
    propertyDependencies: { a: ["urn:boot"], b: ["urn:server", "urn:gate"], c: null },
  };
  expect(withoutCluster({ resources: [server, bootstrap, release, gate, mixed, address] }).resources).toEqual([
    server,
    {
      ...{ urn: "urn:mixed", type: "talos:cluster/kubeconfig:Kubeconfig" },
      dependencies: ["urn:server"],
      propertyDependencies: { a: [], b: ["urn:server"], c: [] },
    },
    address,
  ]);
});
