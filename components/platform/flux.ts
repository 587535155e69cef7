import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import type { FluxSettings } from "../model/settings/platform.ts";
import { type Chart, type ChartArgs, chartRelease } from "./chartRelease.ts";
import { gitCredentials } from "./gitCredentials.ts";

export const fluxChart: Chart = {
  name: "flux2",
  repository: "https://fluxcd-community.github.io/helm-charts",
  release: "flux",
  namespace: "flux-system",
};

/** The names of the source, the root Kustomization and the credentials: the same as those of `flux bootstrap`. */
export const fluxRoot = { name: "flux-system", namespace: fluxChart.namespace };

/** The Deployments of the chart that have to run. */
export const fluxControllers = [
  "source-controller",
  "kustomize-controller",
  "helm-controller",
  "notification-controller",
];

/** The repository that the cluster is reconciled from. */
export interface GitSource extends Omit<FluxSettings, "enabled" | "version" | "url"> {
  readonly url: string;
  /** Password or token for HTTP. Default: the repository is public. */
  readonly password?: string | undefined;
  /** Private key for SSH, together with `knownHosts`. */
  readonly sshKey?: string | undefined;
}

export interface FluxArgs extends ChartArgs {
  readonly source: GitSource;
  /** The age key that SOPS-encrypted files in the repository are decrypted with. */
  readonly sopsAgeKey?: string | undefined;
}

/** Flux, and the repository that it reconciles. */
export class Flux extends pulumi.ComponentResource {
  constructor(name: string, args: FluxArgs, opts: pulumi.ComponentResourceOptions) {
    super("sluice:platform:Flux", name, {}, opts);
    const { source, sopsAgeKey } = args;

    const namespace = new kubernetes.core.v1.Namespace(
      `${name}-namespace`,
      {
        metadata: {
          name: fluxChart.namespace,
          // The labels of Flux' own manifests.
          labels: {
            "pod-security.kubernetes.io/warn": "restricted",
            "pod-security.kubernetes.io/warn-version": "latest",
          },
        },
      },
      // It contains Flux' objects from git. Without Flux nothing removes their finalizers, and the namespace's deletion would never end.
      { parent: this, retainOnDelete: true },
    );
    const inNamespace = { parent: this, dependsOn: [namespace] };
    const controllers = chartRelease(`${name}-controllers`, fluxChart, { ...args, values: fluxValues }, inNamespace);
    const credentials = gitCredentials(source);
    const secrets = [
      ...(credentials ? [secret(`${name}-git-credentials`, fluxRoot.name, credentials, inNamespace)] : []),
      ...(sopsAgeKey ? [secret(`${name}-sops-age`, sopsSecret, { "age.agekey": sopsAgeKey }, inNamespace)] : []),
    ];

    // The controllers' release defines their kinds, and is deleted after them.
    const reconciled = { parent: this, dependsOn: [controllers, ...secrets] };
    new kubernetes.apiextensions.CustomResource(
      `${name}-source`,
      {
        apiVersion: "source.toolkit.fluxcd.io/v1",
        kind: "GitRepository",
        metadata: fluxRoot,
        spec: {
          interval: source.interval,
          url: source.url,
          ref: { branch: source.branch, commit: source.revision },
          secretRef: credentials && { name: fluxRoot.name },
        },
      },
      reconciled,
    );
    new kubernetes.apiextensions.CustomResource(
      `${name}-root`,
      {
        apiVersion: "kustomize.toolkit.fluxcd.io/v1",
        kind: "Kustomization",
        metadata: fluxRoot,
        spec: {
          interval: "10m",
          retryInterval: source.interval,
          timeout: "5m",
          path: source.path,
          prune: true,
          // With this, Ready also means that everything applied is healthy.
          wait: true,
          // Without Flux the cluster is no longer reconciled; that is no reason to delete everything.
          deletionPolicy: "Orphan",
          sourceRef: { kind: "GitRepository", name: fluxRoot.name },
          decryption: sopsAgeKey === undefined ? undefined : { provider: "sops", secretRef: { name: sopsSecret } },
        },
      },
      reconciled,
    );
    this.registerOutputs();
  }
}

const sopsSecret = "sops-age";

/** The controllers that `flux install` installs. */
const fluxValues = {
  imageAutomationController: { create: false },
  imageReflectionController: { create: false },
  sourceWatcher: { create: false },
  // Deleting the definitions would delete every object of their kinds, and everything that Flux has applied.
  crds: { annotations: { "helm.sh/resource-policy": "keep" } },
};

function secret(
  name: string,
  secretName: string,
  data: Readonly<Record<string, string>>,
  opts: pulumi.CustomResourceOptions,
): kubernetes.core.v1.Secret {
  return new kubernetes.core.v1.Secret(
    name,
    { metadata: { name: secretName, namespace: fluxChart.namespace }, stringData: pulumi.secret({ ...data }) },
    opts,
  );
}
