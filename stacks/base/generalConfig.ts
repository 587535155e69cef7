// The top-level keys of every environment, whatever its platform, with meaning and default. What platforms add is in stacks/platforms.
import { z } from "zod";
import type { PlatformTraits } from "../../components/model/platformTraits.ts";
import { backup } from "../../components/model/settings/backup.ts";
import type { Settings } from "../../components/model/settings/documentation.ts";
import { image, install } from "../../components/model/settings/image.ts";
import { machine } from "../../components/model/settings/machine.ts";
import { network, tailscale } from "../../components/model/settings/network.ts";
import { type NodeSettings, node } from "../../components/model/settings/node.ts";
import { patch } from "../../components/model/settings/patch.ts";
import {
  charts,
  cilium,
  csi,
  flux,
  kubeVip,
  sealedSecrets,
  services,
} from "../../components/model/settings/platform.ts";
import { contract, dnsLabel, hostName, version } from "../../components/model/settings/scalars.ts";
import {
  apply,
  clientCertificateDays,
  stableSeconds,
  stallSeconds,
  strict,
} from "../../components/model/settings/time.ts";
import { upgrade } from "../../components/model/settings/upgrade.ts";
import { labName, labNameForm } from "./labName.ts";
import { timeouts } from "./timeouts.ts";

const lab = z
  .strictObject({
    name: z.string().regex(labName, `must be ${labNameForm}`).meta({
      form: labNameForm,
      description: "Name of the lab, as in `npm run lab -- up --name`.",
      example: "default",
    }),
  })
  .meta({
    description: "Run on a [lab](lab.md), which simulates the platform on this machine.",
    fallback: "the real platform",
  });

/** Bech32. What encrypts for it checks the sum at its end. */
const ageRecipient = z
  .string()
  .regex(
    /^age1[02-9ac-hj-np-z]{58,}$/,
    "must be an age public key, such as age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p",
  );

const secretText = z.string().min(1).optional();

/** Up to the settings of the platform. */
export const clusterKeys = {
  clusterName: dnsLabel.meta({
    description: "Name of the cluster. Machines that Sluice creates are called `<clusterName>-<node>`.",
    change: "another cluster",
  }),
  platform: z.string().meta({ description: "Where the machines come from.", change: "another cluster" }),
  talosVersion: version("1.12.6").meta({
    description: "Version of Talos ([upgrades](upgrades.md)).",
    change: "upgrades the nodes",
  }),
  configContract: contract.optional().meta({
    fallback: "what the cluster was created with",
    description:
      "The Talos minor version that machine configs are written for ([versions](versions.md#the-contract-of-the-machine-configs)). Raised apart from `talosVersion`; a preview lists what changes.",
  }),
  kubernetesVersion: version("1.35.4").meta({
    description: "Version of Kubernetes ([versions](versions.md), [upgrades](upgrades.md)).",
    change: "no reboot",
  }),
  endpoint: hostName.optional().meta({
    fallback: "the VIP, else the load balancer, else the only control plane",
    description: "Host name or address by which clients reach the Kubernetes API.",
    example: "k8s.example.org",
    change: "no reboot",
  }),
  machineSecrets: secretText.meta({
    form: "Talos' secrets.yaml",
    fallback: "the first `up` generates them",
    description: "The machine secrets of the cluster ([secrets](secrets.md)). `npm run secrets -- import` sets them.",
    change: "refused",
  }),
  ageRecipients: z.array(ageRecipient).default([]).meta({
    form: "list of age public keys",
    description: "The keys that backups and `npm run secrets -- export` are encrypted for.",
  }),
  nodes: z.array(node).min(1, "must list at least one node").meta({
    description:
      "The nodes. Names, addresses, machines and machine configs follow from this list; its order means nothing.",
  }),
  network,
  tailscale: tailscale.prefault({}),
  tailscaleAuthKey: secretText.meta({
    description: "The key with which nodes join the tailnet.",
    form: "auth key",
    change: "no reboot",
  }),
  image: image.prefault({}),
  install: install.prefault({}),
  machine: machine.prefault({}),
  patches: z.array(patch).default([]).meta({
    description: "Your own patches of the machine configs, merged after all others in the order given.",
  }),
  secretPatches: z.array(patch).default([]).meta({
    description: "Like `patches`, for content that must stay secret. They are merged last.",
    sameAs: "patches",
  }),
} as const;

/** After them: what is installed into the cluster, and how a run goes. */
export const softwareKeys = {
  kubeVip: kubeVip.prefault({}),
  cilium: cilium.prefault({}),
  services: services.prefault({}),
  csi: csi.prefault({}),
  sealedSecrets: sealedSecrets.prefault({}),
  sealedSecretsCertificate: secretText.meta({
    form: "certificate in PEM",
    fallback: "the controller makes a key, which is lost with the cluster",
    description: "The certificate that secrets are sealed for. Goes with `sealedSecretsKey`.",
  }),
  sealedSecretsKey: secretText.meta({
    form: "RSA key in PEM",
    description: "The key with which SealedSecrets are decrypted. Goes with `sealedSecretsCertificate`.",
  }),
  flux: flux.prefault({}),
  fluxGitPassword: secretText.meta({
    form: "password or token",
    description: "Password or token with which the repository is fetched over HTTP.",
  }),
  fluxGitSshKey: secretText.meta({
    form: "private key",
    description: "Private key with which the repository is fetched over SSH.",
  }),
  sopsAgeKey: secretText.meta({
    form: "age key",
    description: "The age key with which Flux decrypts files that SOPS has encrypted.",
  }),
  charts: charts.prefault({}),
  backup: backup.prefault({}),
  backupS3AccessKey: secretText.meta({
    form: "access key",
    fallback: "AWS_ACCESS_KEY_ID",
    description: "The access key for `backup.s3`.",
  }),
  backupS3SecretKey: secretText.meta({
    form: "secret key",
    fallback: "AWS_SECRET_ACCESS_KEY",
    description: "The secret key for `backup.s3`.",
  }),
  restoreFrom: z.string().min(1).optional().meta({
    form: "`latest`, a backup's name, or the path of its folder",
    fallback: "a new cluster is empty",
    description:
      "The backup that a cluster without etcd begins with. Where an etcd exists it has no effect ([restore](backup.md#restore)).",
    example: "latest",
  }),
  upgrade: upgrade.prefault({}),
  timeouts: timeouts.prefault({}),
  stableSeconds,
  strict,
  stallSeconds,
  apply: apply.prefault({}),
  clientCertificateDays,
  lab: lab.optional(),
  protect: z.boolean().default(false).meta({
    description: "Refuse to destroy the machine secrets, and the machines that Sluice created, until this is `false`.",
  }),
} as const;

const generalSchema = z.strictObject({ ...clusterKeys, ...softwareKeys });

/** An environment as its platform reads it: without the platform's own settings and keys of a node, which are added to this. */
export type GeneralConfig = Omit<Settings<typeof generalSchema>, "platform" | "nodes"> & {
  readonly platform: PlatformTraits;
  readonly nodes: readonly NodeSettings[];
};
