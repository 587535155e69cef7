// Names that Talos' Image Factory and Kubernetes define.
import { type Catalogue, catalogueFault, catalogueWarning } from "../base/catalogue.ts";
import type { Fault } from "../base/fault.ts";
import type { ClusterConfig } from "../schema/clusterConfig.ts";
import { featureGateNames } from "./featureGateNames.ts";
import { rule } from "./rule.ts";

/**
 * Official extensions, each as siderolabs/<name>, of https://github.com/siderolabs/extensions. No package registry has the list; the Image Factory has that of
 * each version of Talos at /version/<version>/extensions/official. A name that is missing here is only warned of, and the factory decides.
 */
const extensionNames = `
  amazon-ena amd-ucode amdgpu amdgpu-firmware ata-drivers binfmt-misc bnx2-bnx2x btrfs chelsio-drivers chelsio-firmware cloudflared crun ctr
  drbd dvb-cx23885 dvb-m88ds3103 ecr-credential-provider fuse3 gasket-driver glibc gvisor gvisor-debug hailort hello-world-service i915 i915-ucode
  intel-ice-firmware intel-ucode iscsi-tools kata-containers lldpd mdadm mei mellanox-mstflint metal-agent nebula netbird newt nfs-utils nfsd
  nfsrahead nonfree-kmod-nvidia-lts nonfree-kmod-nvidia-production nut-client nvidia-container-toolkit-lts nvidia-container-toolkit-production
  nvidia-fabricmanager-lts nvidia-fabricmanager-production nvidia-gdrdrv-device nvidia-open-gpu-kernel-modules-lts
  nvidia-open-gpu-kernel-modules-production nvme-cli panfrost pcmcia-drivers qemu-guest-agent qlogic-firmware realtek-firmware revpi-firmware spin
  stargz-snapshotter tailscale talos-vmtoolsd tenstorrent thunderbolt thunderbolt-drivers uinput usb-audio-drivers usb-modem-drivers
  util-linux-tools v4l-uvc-drivers vc4 vmtoolsd-guest-agent wasmedge xdma-driver xe-guest-utilities xen-guest-agent youki zerotier zfs
`;

const extensions: Catalogue = {
  kind: "an official extension of Talos",
  known: extensionNames
    .trim()
    .split(/\s+/)
    .map((name) => `siderolabs/${name}`),
  form: /./,
  refusesNear: true,
};

const featureGates: Catalogue = {
  kind: "a feature gate of Kubernetes",
  known: featureGateNames,
  form: /^[A-Z][A-Za-z0-9]*$/,
  refusesNear: true,
};

type Named = readonly [path: string, catalogue: Catalogue, name: string];

function names({ image, machine }: Pick<ClusterConfig, "image" | "machine">): Named[] {
  const gates = (path: string, gates: object | undefined) =>
    Object.keys(gates ?? {}).map((name): Named => [`${path}.${name}`, featureGates, name]);
  return [
    ...image.extensions.map((name, index): Named => [`image.extensions[${index}]`, extensions, name]),
    ...gates("machine.kubelet.featureGates", machine.kubelet.featureGates),
    ...gates("machine.apiServer.featureGates", machine.apiServer.featureGates),
  ];
}

function found(say: typeof catalogueFault, config: Pick<ClusterConfig, "image" | "machine">): Fault[] {
  return names(config).flatMap(([path, catalogue, name]) => {
    const message = say(catalogue, name);
    return message === undefined ? [] : [{ path, message }];
  });
}

/** A misspelt extension fails when the first image is made, and a misspelt gate keeps the kubelet or the API server from starting. */
export const knownNames = rule(["image", "machine"], (config) => found(catalogueFault, config));

export const unknownNames = rule(["image", "machine"], (config) => found(catalogueWarning, config));
