import { createHash } from "node:crypto";
import * as pulumi from "@pulumi/pulumi";
import * as talos from "@pulumiverse/talos";
import { talosContract } from "./versions.ts";
import { withoutMarks } from "./withoutMarks.ts";

export interface MachineSecretsArgs {
  /** Talos release that the cluster begins with. */
  readonly talosVersion: string;
}

/** The identity of the cluster: its authorities, keys and tokens, and the client configuration made from them. */
export class MachineSecrets extends pulumi.ComponentResource {
  /** What machine configs are generated from. Secret. */
  readonly machineSecrets: talos.machine.Secrets["machineSecrets"];
  /** Tells this cluster from any other. No secret: it is derived from the cluster's id, which is one. */
  readonly clusterIdentifier: pulumi.Output<string>;
  /** The client's certificate and key. Secret. */
  readonly clientConfiguration: talos.machine.Secrets["clientConfiguration"];

  constructor(name: string, args: MachineSecretsArgs, opts?: pulumi.ComponentResourceOptions) {
    super("sluice:talos:MachineSecrets", name, {}, opts);

    const secrets = new talos.machine.Secrets(
      name,
      { talosVersion: talosContract(args.talosVersion) },
      {
        parent: this,
        // The version only shapes new secrets. Lowering it would replace them, and with them every node's identity.
        ignoreChanges: ["talosVersion"],
        // The schema marks single keys inside; the whole is meant.
        additionalSecretOutputs: ["machineSecrets", "clientConfiguration"],
      },
    );

    this.machineSecrets = secrets.machineSecrets;
    this.clusterIdentifier = pulumi.unsecret(
      secrets.machineSecrets.apply((marked) => sha256(withoutMarks(withoutMarks(marked).cluster).id)),
    );
    this.clientConfiguration = secrets.clientConfiguration;
    this.registerOutputs({});
  }
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
