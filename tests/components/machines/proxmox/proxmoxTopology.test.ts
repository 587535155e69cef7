import { expect, test } from "@jest/globals";
import { proxmoxTopology } from "../../../../components/machines/proxmox/proxmoxTopology.ts";

test("S3.2 a node's labels and provider id name its Proxmox cluster, host and VM", () => {
  expect(proxmoxTopology({ region: "home", host: "pve-2", vmId: 301 })).toEqual({
    machine: {
      nodeLabels: { "topology.kubernetes.io/region": "home", "topology.kubernetes.io/zone": "pve-2" },
      kubelet: { extraArgs: { "provider-id": "proxmox://home/301" } },
    },
  });
});
