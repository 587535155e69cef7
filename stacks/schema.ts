// The shape of an environment: every key that Pulumi.<env>.yaml may hold, with its meaning and default.
// What one field alone can tell is checked here; what several fields tell together is checked in stacks/rules.
import { z } from "zod";
import { labName, labNameForm } from "./labName.ts";
import { existing } from "./schema/existing.ts";
import { hetzner } from "./schema/hetzner.ts";
import { image, machine, patch } from "./schema/machine.ts";
import { network, tailscale } from "./schema/network.ts";
import { install, node } from "./schema/node.ts";
import { charts, cilium, csi, flux, kubeVip, sealedSecrets, services } from "./schema/platform.ts";
import { proxmox } from "./schema/proxmox.ts";
import { dnsLabel, hostName, version } from "./schema/scalars.ts";
import { apply, timeouts } from "./schema/waiting.ts";

/** The lab that stands in for the platform. */
const lab = z.strictObject({
  /** Which of this checkout's labs, as `npm run lab -- up --name` has it. */
  name: z.string().regex(labName, `must be ${labNameForm}`),
});

const secretText = z.string().min(1).optional();

/** Top-level keys, as they stand in Pulumi.<env>.yaml behind the project's name. */
export const clusterConfigSchema = z.strictObject({
  clusterName: dnsLabel,
  platform: z.enum(["hetzner", "proxmox", "existing"]),
  talosVersion: version("1.12.6"),
  kubernetesVersion: version("1.35.4"),
  /** Host name or address that clients use for the Kubernetes API. Default: the VIP, else the load balancer, else the only control plane. */
  endpoint: hostName.optional(),
  /** In whatever order: nothing follows from it. */
  nodes: z.array(node).min(1, "must list at least one node"),
  network,
  tailscale: tailscale.prefault({}),
  /** The key that nodes come into the tailnet with. */
  tailscaleAuthKey: secretText,
  image: image.prefault({}),
  install: install.prefault({}),
  machine: machine.prefault({}),
  patches: z.array(patch).default([]),
  /** Like `patches`, for what must not be read: set with `--secret`. */
  secretPatches: z.array(patch).default([]),
  hetzner: hetzner.optional(),
  proxmox: proxmox.optional(),
  existing: existing.optional(),
  kubeVip: kubeVip.prefault({}),
  cilium: cilium.prefault({}),
  services: services.prefault({}),
  csi: csi.prefault({}),
  sealedSecrets: sealedSecrets.prefault({}),
  /** PEM, with `sealedSecretsKey`: what secrets are sealed for. Default: the controller makes a key, and with the cluster it is gone. */
  sealedSecretsCertificate: secretText,
  sealedSecretsKey: secretText,
  flux: flux.prefault({}),
  /** Password or token that the repository is fetched with over HTTP. */
  fluxGitPassword: secretText,
  /** Private key that the repository is fetched with over SSH. */
  fluxGitSshKey: secretText,
  /** The age key that SOPS-encrypted files in the repository are decrypted with. */
  sopsAgeKey: secretText,
  charts: charts.prefault({}),
  timeouts: timeouts.prefault({}),
  /** Seconds that all conditions of a gate must hold without a break before it opens. */
  stableSeconds: z.int().min(0).default(5),
  apply: apply.prefault({}),
  /** Days before its end that the certificate in a talosconfig or kubeconfig is drift; the next update makes another. */
  clientCertificateDays: z
    .int()
    .min(1, "must be 1 day or more")
    .max(28, "must be 28 days at most: the Talos provider makes another in its last month")
    .default(28),
  /** Run on a lab, which plays the platform on this machine. Default: on the platform itself. */
  lab: lab.optional(),
  /** Refuse to destroy machine secrets and machines until this is false. */
  protect: z.boolean().default(false),
});

/** Top-level keys whose values are encrypted in Pulumi.<env>.yaml and stand in no message. */
export const secretKeys: ReadonlySet<string> = new Set<keyof ClusterConfig>([
  "tailscaleAuthKey",
  "secretPatches",
  "sealedSecretsCertificate",
  "sealedSecretsKey",
  "fluxGitPassword",
  "fluxGitSshKey",
  "sopsAgeKey",
]);

export type ClusterConfig = Readonly<z.output<typeof clusterConfigSchema>>;
