import { createHash } from "node:crypto";
import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { type Chart, type ChartArgs, chartRelease } from "./chartRelease.ts";

export const sealedSecretsChart: Chart = {
  name: "sealed-secrets",
  repository: "https://bitnami-labs.github.io/sealed-secrets",
  release: "sealed-secrets",
  namespace: "kube-system",
};

/** Name of the Deployment and of its Service. */
export const sealedSecretsController = "sealed-secrets-controller";

/** What secrets are sealed for, both as PEM. */
export interface SealingKey {
  readonly certificate: string;
  readonly key: string;
}

export interface SealedSecretsArgs extends ChartArgs {
  /** The key of one's own. Default: the controller makes one, and with the cluster it is gone. */
  readonly sealingKey?: SealingKey | undefined;
}

/** The controller that decrypts SealedSecrets, under the name and in the namespace that `kubeseal` looks in. */
export class SealedSecrets extends pulumi.ComponentResource {
  constructor(name: string, args: SealedSecretsArgs, opts: pulumi.ComponentResourceOptions) {
    super("sluice:platform:SealedSecrets", name, {}, opts);
    const { sealingKey } = args;
    const key = sealingKey && sealingKeySecret(`${name}-key`, sealingKey, this);
    const values = {
      fullnameOverride: sealedSecretsController,
      ...(sealingKey && {
        // S4.7: by default a new key is made every 30 days, and what is sealed for that is lost with the cluster.
        keyrenewperiod: "0",
        // Keys are read when the controller starts, so another key has to be another pod.
        podAnnotations: { "checksum/sealing-key": fingerprint(sealingKey) },
      }),
    };
    chartRelease(
      `${name}-release`,
      sealedSecretsChart,
      { ...args, values },
      { parent: this, dependsOn: key === undefined ? [] : [key] },
    );
    this.registerOutputs();
  }
}

/** There before the controller starts, which then makes none itself. */
function sealingKeySecret(name: string, sealingKey: SealingKey, parent: pulumi.Resource): kubernetes.core.v1.Secret {
  return new kubernetes.core.v1.Secret(
    name,
    {
      metadata: {
        name: `sealed-secrets-key-${fingerprint(sealingKey)}`,
        namespace: sealedSecretsChart.namespace,
        labels: { "sealedsecrets.bitnami.com/sealed-secrets-key": "active" },
      },
      type: "kubernetes.io/tls",
      stringData: { "tls.crt": pulumi.secret(sealingKey.certificate), "tls.key": pulumi.secret(sealingKey.key) },
    },
    // A former key stays in the cluster when there is a new one: it is what the secrets in git are sealed for.
    { parent, retainOnDelete: true },
  );
}

/** The certificate's, which everyone may know. */
export function fingerprint({ certificate }: SealingKey): string {
  return createHash("sha256").update(certificate).digest("hex").slice(0, 10);
}
