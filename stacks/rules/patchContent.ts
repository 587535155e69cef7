import type { Fault } from "../fault.ts";
import { didYouMean } from "../suggest.ts";
import { allPatches, type ListedPatch } from "./patches.ts";
import { rule } from "./rule.ts";

/** The keys of a machine config. What else stands at the top of a patch is a slip, or a config document that lacks its kind. */
const machineConfigKeys = ["machine", "cluster", "version", "debug", "persist"];

const fromSecrets =
  "the machine secrets are one set for the whole cluster, and a node with others is a stranger to the rest";
const fromImage =
  "the installer follows from talosVersion and image, another would drop extensions and kernel arguments";

/** What follows from other keys, which the rules check and other stages read too: a patch would go round both. */
const owned: Readonly<Record<string, string>> = {
  "machine.type": "use nodes[].role",
  "machine.network.hostname": "use nodes[].name",
  "machine.install.disk": "use install.disk",
  "machine.install.diskSelector": "use install.diskSelector",
  "machine.install.wipe": "use install.wipe",
  "machine.install.extraKernelArgs": "use image.kernelArgs",
  "machine.install.grubUseUKICmdline": "use install.grubUseUKICmdline",
  "machine.install.image": fromImage,
  "machine.install.extensions": fromImage,
  "machine.features.hostDNS": "use machine.hostDNS",
  "machine.ca": fromSecrets,
  "machine.token": fromSecrets,
  "cluster.ca": fromSecrets,
  "cluster.token": fromSecrets,
  "cluster.id": fromSecrets,
  "cluster.secret": fromSecrets,
  "cluster.clusterName": "use clusterName",
  "cluster.controlPlane.endpoint": "use endpoint",
  "cluster.network.podSubnets": "use network.podCidr",
  "cluster.network.serviceSubnets": "use network.serviceCidr",
  "cluster.network.dnsDomain": "use network.dnsDomain",
  "cluster.network.cni": "Cilium is the CNI, and two would fight over every pod",
  "cluster.proxy": "Cilium does kube-proxy's work",
  "cluster.allowSchedulingOnControlPlanes": "use machine.scheduleOnControlPlanes",
};

export const patchContent = rule(["patches", "secretPatches"], (config) =>
  allPatches(config).flatMap((listed) =>
    listed.patch.patch.kind === undefined ? machineConfigFaults(listed) : documentFaults(listed),
  ),
);

function machineConfigFaults({ path, patch: { patch }, isSecret }: ListedPatch): Fault[] {
  const keys = Object.keys(patch);
  if (keys.length === 0) return [{ path: `${path}.patch`, message: "is empty: say what it changes, or remove it" }];
  const taken = Object.entries(owned).filter(([key]) => valueAt(patch, key.split(".")) !== undefined);
  return [
    ...unknownSections(path, keys, isSecret),
    ...taken.map(([key, instead]) => ({
      path: `${path}.patch.${key}`,
      message: `is not for a patch to set: ${instead}`,
    })),
  ];
}

function unknownSections(path: string, keys: readonly string[], isSecret: boolean): Fault[] {
  const unknown = keys.filter((key) => !machineConfigKeys.includes(key));
  if (isSecret && unknown.length > 0) {
    return [{ path: `${path}.patch`, message: `has a key that is none of ${machineConfigKeys.join(", ")}` }];
  }
  const rest = ": a machine config has machine and cluster, a config document needs kind";
  return unknown.map((key) => ({
    path: `${path}.patch.${key}`,
    message: `is unknown${didYouMean(key, machineConfigKeys) || rest}`,
  }));
}

function documentFaults({ path, patch: { patch } }: ListedPatch): Fault[] {
  if (patch.apiVersion === undefined) {
    return [
      {
        path: `${path}.patch.apiVersion`,
        message: "is missing: a config document has apiVersion and kind, mostly 'v1alpha1'",
      },
    ];
  }
  if (patch.kind !== "HostnameConfig") return [];
  return [{ path: `${path}.patch`, message: "HostnameConfig is not for a patch to write: use nodes[].name" }];
}

function valueAt(value: unknown, [key, ...rest]: readonly string[]): unknown {
  if (key === undefined) return value;
  if (typeof value !== "object" || value === null) return undefined;
  return valueAt((value as Record<string, unknown>)[key], rest); // any object may be asked for a key
}
