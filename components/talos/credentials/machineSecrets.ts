import * as pulumi from "@pulumi/pulumi";
import * as talos from "@pulumiverse/talos";
import { withoutAnyMarks, withoutMarks } from "../../engine/withoutMarks.ts";
import { format } from "../../errors/format.ts";
import { sha256 } from "../../model/contentHash.ts";
import { talosContract } from "../config/versions.ts";
import { secretsFile } from "../secrets/offerSecrets.ts";
import { otherSecrets } from "../secrets/otherSecrets.ts";
import { faultText, fromPlugin, isBundle, type SecretsBundle } from "../secrets/secretsBundle.ts";

export interface MachineSecretsArgs {
  /** The Talos release that the cluster starts with. */
  readonly talosVersion: string;
  /** The secrets that it must have: the plugin imports them where there are none. Without them it generates some. */
  readonly declared?: SecretsBundle | undefined;
}

/** The identity of the cluster: its CAs, keys and tokens, and the client configuration made from them. */
export class MachineSecrets extends pulumi.ComponentResource {
  /** The input from which machine configs are generated. Secret. */
  readonly machineSecrets: talos.machine.Secrets["machineSecrets"];
  /** Identifies this cluster. No secret, although it is derived from the cluster's id, which is one. */
  readonly clusterIdentifier: pulumi.Output<string>;
  /** The client certificate and key. Secret. */
  readonly clientConfiguration: talos.machine.Secrets["clientConfiguration"];
  /** The config contract of the Talos that they were made with: they keep it. */
  readonly madeWith: pulumi.Output<string | undefined>;
  /** Known when the state has the secrets. */
  readonly isPresent: pulumi.Output<boolean>;

  constructor(name: string, args: MachineSecretsArgs, opts?: pulumi.ComponentResourceOptions) {
    super("sluice:talos:MachineSecrets", name, {}, opts);

    const secrets = new talos.machine.Secrets(
      name,
      { talosVersion: talosContract(args.talosVersion) },
      {
        parent: this,
        // The version only affects the format of new secrets. Lowering it would replace them, and with them every node's identity.
        ignoreChanges: ["talosVersion"],
        // The schema marks only single keys as secrets; all of it is secret.
        additionalSecretOutputs: ["machineSecrets", "clientConfiguration"],
        ...(args.declared !== undefined && { import: secretsFile }),
      },
    );

    this.machineSecrets = sameAs(args.declared, secrets.machineSecrets);
    this.madeWith = secrets.talosVersion;
    this.isPresent = secrets.id.apply(() => true);
    this.clusterIdentifier = pulumi.unsecret(
      this.machineSecrets.apply((marked) => sha256(withoutMarks(withoutMarks(marked).cluster).id)),
    );
    this.clientConfiguration = secrets.clientConfiguration;
    this.registerOutputs({});
  }
}

type Made = talos.machine.Secrets["machineSecrets"];

/** Nothing is made from secrets that are not the declared ones. */
function sameAs(declared: SecretsBundle | undefined, made: Made): Made {
  if (declared === undefined) return made;
  return made.apply((marked) => {
    const there = fromPlugin(withoutAnyMarks(marked));
    if (!isBundle(there))
      throw new Error(`the plugin's machine secrets are incomplete: ${there.map(faultText).join("; ")}`);
    const refusal = otherSecrets(there, declared);
    if (refusal !== undefined) throw new pulumi.RunError(format(refusal));
    return marked;
  }) as Made;
}
