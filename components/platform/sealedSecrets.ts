import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { sha256 } from "../model/contentHash.ts";
import { type Chart, type ChartArgs, chartRelease } from "./chartRelease.ts";

export const sealedSecretsChart: Chart = {
  name: "sealed-secrets",
  repository: "https://bitnami-labs.github.io/sealed-secrets",
  release: "sealed-secrets",
  namespace: "kube-system",
};

/** Name of the Deployment and of its Service. */
export const sealedSecretsController = "sealed-secrets-controller";

/** The sealing key and its certificate, both as PEM. */
export interface SealingKey {
  readonly certificate: string;
  readonly key: string;
}

export interface SealedSecretsArgs extends ChartArgs {
  /** The environment's own key. Default: the controller generates one, which is lost with the cluster. */
  readonly sealingKey?: SealingKey | undefined;
}

/** The controller that decrypts SealedSecrets, under the name and in the namespace that `kubeseal` expects. */
export class SealedSecrets extends pulumi.ComponentResource {
  constructor(name: string, args: SealedSecretsArgs, opts: pulumi.ComponentResourceOptions) {
    super("sluice:platform:SealedSecrets", name, {}, opts);
    const { sealingKey } = args;
    const key = sealingKey && sealingKeySecret(`${name}-key`, sealingKey, this);
    const values = {
      fullnameOverride: sealedSecretsController,
      ...(sealingKey && {
        // S4.7: by default a new key is generated every 30 days, and what is sealed for it is lost with the cluster.
        keyrenewperiod: "0",
        // The controller reads its keys when it starts, so another key needs another pod.
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

/** Created before the controller starts, so that it generates no key itself. */
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
    // A former key stays in the cluster when it is replaced, because secrets in git are sealed for it.
    { parent, retainOnDelete: true },
  );
}

/** The fingerprint of the certificate, which is public. */
export function fingerprint({ certificate }: SealingKey): string {
  return sha256(certificate).slice(0, 10);
}
