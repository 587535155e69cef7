import type { MachineConfigInput, MachineNode } from "../../../components/talos/config/machineInput.ts";
import { machineInput, machineNode } from "./machineInput.ts";

/** Proxmox at home: static addresses, VIP, logs to a collector, the user's own patches. */
const home = {
  nodes: [
    { name: "home-cp-1", role: "controlplane", address: "10.0.0.11", mac: "02:00:00:00:00:0b" },
    {
      name: "home-w-1",
      role: "worker",
      address: "10.0.0.21",
      mac: "02:00:00:00:00:15",
      labels: { "topology.kubernetes.io/zone": "rack-1" },
      taints: { dedicated: "media:NoSchedule" },
    },
  ],
  network: {
    vip: "10.0.0.20",
    addressing: "meta",
    nameservers: ["10.0.0.1"],
    podCidr: "10.42.0.0/16",
    serviceCidr: "10.43.0.0/16",
  },
  image: {
    extensions: ["siderolabs/qemu-guest-agent", "siderolabs/tailscale"],
    kernelArgs: ["talos.logging.kernel=udp://127.0.0.1:6050"],
  },
  machine: { logShipping: { enabled: true }, apiServer: { certSANs: ["k8s.home.arpa"] } },
  patches: [
    { name: "inotify", role: "worker", patch: { machine: { sysctls: { "fs.inotify.max_user_watches": "1048576" } } } },
    {
      name: "tailscale",
      when: "logShipping",
      patch: {
        apiVersion: "v1alpha1",
        kind: "ExtensionServiceConfig",
        name: "tailscale",
        environment: ["TS_HOSTNAME=off", "TS_ACCEPT_DNS=false"],
      },
    },
  ],
};

/** Hetzner: both networks by DHCP, a load balancer in front, kernel arguments in the older way. */
const cloud = {
  platform: "hetzner",
  nodes: [
    { name: "cloud-cp-1", role: "controlplane", address: "10.0.1.11" },
    { name: "cloud-w-1", role: "worker", address: "10.0.1.21" },
  ],
  network: { nodeCidr: "10.0.1.0/24" },
  hetzner: { loadBalancer: { address: "10.0.1.5" } },
  install: { extraKernelArgs: ["quiet"], grubUseUKICmdline: false },
};

/** Proxmox with a tagged VLAN, by DHCP. */
const trunk = {
  nodes: [
    { name: "trunk-cp-1", role: "controlplane", address: "10.0.0.11", mac: "02:00:00:00:00:0b" },
    { name: "trunk-w-1", role: "worker", address: "10.0.0.21", mac: "02:00:00:00:00:15" },
  ],
  network: { vip: "10.0.0.20", vlan: { tag: 20, mode: "trunk" } },
};

/** One machine of unknown MAC that does everything, with every option off. */
const single = {
  platform: "existing",
  nodes: [{ name: "single-1", role: "controlplane", address: "10.0.0.11", taints: { edge: ":PreferNoSchedule" } }],
  network: { disableSearchDomain: false },
  install: { diskSelector: { size: ">= 100GB", type: "nvme" }, wipe: true },
  image: { secureBoot: true },
  machine: {
    kubelet: { featureGates: {}, serializeImagePulls: true },
    apiServer: { aggregatorRouting: false },
    ciliumHostDNS: true,
  },
};

/** The nodes whose patches are kept as goldens, one of each kind. */
export function goldenNodes(talosVersion: string): readonly { input: MachineConfigInput; node: MachineNode }[] {
  return [home, cloud, trunk, single].flatMap((config) => {
    const input = machineInput(talosVersion, config);
    return input.nodes.map(({ name }) => ({ input, node: machineNode(input, name) }));
  });
}
