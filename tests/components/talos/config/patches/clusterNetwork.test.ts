import { describe, expect, test } from "@jest/globals";
import { clusterNetworkPatches } from "../../../../../components/talos/config/patches/clusterNetwork.ts";
import { machineInput, machineNode, talosVersions } from "../../machineInput.ts";

describe.each(talosVersions)("the cluster network's patch (S3.3, S4.6) on Talos %s", (version) => {
  const input = machineInput(version, {
    network: { podCidr: "10.42.0.0/16", serviceCidr: "10.43.0.0/16", dnsDomain: "home.local" },
  });
  const networks = { dnsDomain: "home.local", podSubnets: ["10.42.0.0/16"], serviceSubnets: ["10.43.0.0/16"] };

  test("keeps a control plane from installing a CNI or kube-proxy, because Cilium comes later [C22]", () => {
    expect(clusterNetworkPatches(input, machineNode(input, "cp-1"))).toStrictEqual([
      { cluster: { network: { cni: { name: "none" }, ...networks }, proxy: { disabled: true } } },
    ]);
  });

  test("has the networks on a worker", () => {
    expect(clusterNetworkPatches(input, machineNode(input, "w-1"))).toStrictEqual([{ cluster: { network: networks } }]);
  });
});
