import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { type Chart, type ChartArgs, chartRelease } from "./chartRelease.ts";
import { gitCredentials } from "./gitCredentials.ts";

export const fluxChart: Chart = {
  name: "flux2",
  repository: "https://fluxcd-community.github.io/helm-charts",
  release: "flux",
  namespace: "flux-system",
};

/** How the source, the root Kustomization and the credentials are called: as `flux bootstrap` would. */
export const fluxRoot = { name: "flux-system", namespace: fluxChart.namespace };

/** Where what the cluster shall be is written down. */
export interface GitSource {
  /** Of the form `https://`, `http://` or `ssh://`. */
  readonly url: string;
  readonly branch: string;
  /** The commit of it that the cluster stays at. Default: the newest there is. */
  readonly revision?: string | undefined;
  /** The folder that the root Kustomization applies. */
  readonly path: string;
  /** How often the repository is looked at, for example `1m`. */
  readonly interval: string;
  /** Who fetches over HTTP, where there is a password. */
  readonly username: string;
  /** Password or token for HTTP. Default: everyone may read. */
  readonly password?: string | undefined;
  /** Private key for SSH, together with `knownHosts`. */
  readonly sshKey?: string | undefined;
  /** The server's host keys, as `ssh-keyscan` prints them. */
  readonly knownHosts?: string | undefined;
}

export interface FluxArgs extends ChartArgs {
  readonly source: GitSource;
  /** The age key that SOPS-encrypted files in the repository are decrypted with. */
  readonly sopsAgeKey?: string | undefined;
}

/** Flux, and what it is to reconcile. */
export class Flux extends pulumi.ComponentResource {
  constructor(name: string, args: FluxArgs, opts: pulumi.ComponentResourceOptions) {
    super("sluice:platform:Flux", name, {}, opts);
    const { source, sopsAgeKey } = args;

    const namespace = new kubernetes.core.v1.Namespace(
      `${name}-namespace`,
      {
        metadata: {
          name: fluxChart.namespace,
          // As Flux' own manifests have them.
          labels: {
            "pod-security.kubernetes.io/warn": "restricted",
            "pod-security.kubernetes.io/warn-version": "latest",
          },
        },
      },
      // It holds what Flux was told from git. Without Flux nobody takes the finalizers off, and the deletion would never end.
      { parent: this, retainOnDelete: true },
    );
    const inNamespace = { parent: this, dependsOn: [namespace] };
    const controllers = chartRelease(`${name}-controllers`, fluxChart, { ...args, values: fluxValues }, inNamespace);
    const credentials = gitCredentials(source);
    const secrets = [
      ...(credentials ? [secret(`${name}-git-credentials`, fluxRoot.name, credentials, inNamespace)] : []),
      ...(sopsAgeKey ? [secret(`${name}-sops-age`, sopsSecret, { "age.agekey": sopsAgeKey }, inNamespace)] : []),
    ];

    // Their kinds are known to the cluster by the controllers' release, and they go before it.
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
          // Ready says then that what was applied is healthy too.
          wait: true,
          // Without Flux the cluster is no longer told what to be; that is no reason to take everything away.
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
  // With the definitions would go every object of their kinds, and with those all that Flux has applied.
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
