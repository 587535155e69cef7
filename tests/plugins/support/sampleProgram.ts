// A program that uses the SDKs in every way that TypeScript allows. It is only read, never run.

import { local } from "@pulumi/command";
import * as hcloud from "@pulumi/hcloud";
import { Network as PrivateNetwork, Server } from "@pulumi/hcloud";
import type * as k8s from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import * as talos from "@pulumiverse/talos";

const { machine } = talos;
const provider = new hcloud.Provider("account", { token: "t" });
const network = new PrivateNetwork("network", { ipRange: "10.0.0.0/16" }, { provider });

class NamedServer extends Server {}

export const servers = ["a", "b"].map((name) => new NamedServer(name, { serverType: "cx23", image: "debian-12" }));
export const key = hcloud.SshKey.get("key", "4711");
export const image = hcloud.getImageOutput({ withSelector: network.name });
export const made = local.runOutput({ command: "packer" });

export const secrets = new machine.Secrets(
  "all",
  { talosVersion: "v1.13" },
  { ignoreChanges: ["machineSecrets.certs"] },
);
export const { talosConfig, nodes } = talos.client.getConfigurationOutput({
  clusterName: "home",
  clientConfiguration: { caCertificate: "", clientCertificate: "", clientKey: secrets.clientConfiguration.clientKey },
});
export type Unused = talos.machine.BootstrapArgs["node"];

// From no SDK of a plugin, only a type, or no resource at all.
export const plain = new pulumi.asset.StringAsset("");
export let chart: k8s.helm.v4.Chart | undefined;
