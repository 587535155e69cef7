import { describe, expect, test } from "@jest/globals";
import { Flux, type GitSource } from "../../../components/platform/flux.ts";
import { gitCredentials } from "../../../components/platform/gitCredentials.ts";
import { recordPlatform, release, releaseType, summary } from "./platformResources.ts";

const source: GitSource = {
  url: "https://git.example.org/home.git",
  branch: "main",
  path: "./clusters/home",
  interval: "1m",
  username: "git",
};
const make = (more: Partial<GitSource> = {}, sopsAgeKey?: string) =>
  recordPlatform(
    (provider) =>
      new Flux("home-flux", { version: "2.19.0", source: { ...source, ...more }, sopsAgeKey }, { provider }),
  );
const root = { name: "flux-system", namespace: "flux-system" };
const parent = "sluice:platform:Flux home-flux";
const namespace = "kubernetes:core/v1:Namespace home-flux-namespace";
const controllers = `${releaseType} home-flux-controllers`;

describe("Flux", () => {
  test("S3.1 has its controllers, the repository, and the root Kustomization", async () => {
    const { resources } = await make();
    expect(summary(resources)).toEqual([
      {
        type: "kubernetes:core/v1:Namespace",
        name: "home-flux-namespace",
        parent,
        inputs: {
          apiVersion: "v1",
          kind: "Namespace",
          metadata: {
            name: "flux-system",
            labels: {
              "pod-security.kubernetes.io/warn": "restricted",
              "pod-security.kubernetes.io/warn-version": "latest",
            },
          },
        },
        dependencies: [],
      },
      {
        type: releaseType,
        name: "home-flux-controllers",
        parent,
        inputs: {
          ...release("flux2", "https://fluxcd-community.github.io/helm-charts", "2.19.0", "flux", "flux-system"),
          values: {
            imageAutomationController: { create: false },
            imageReflectionController: { create: false },
            sourceWatcher: { create: false },
            crds: { annotations: { "helm.sh/resource-policy": "keep" } },
          },
        },
        dependencies: [namespace],
      },
      {
        type: "kubernetes:kustomize.toolkit.fluxcd.io/v1:Kustomization",
        name: "home-flux-root",
        parent,
        inputs: {
          apiVersion: "kustomize.toolkit.fluxcd.io/v1",
          kind: "Kustomization",
          metadata: root,
          spec: {
            interval: "10m",
            retryInterval: "1m",
            timeout: "5m",
            path: "./clusters/home",
            prune: true,
            wait: true,
            deletionPolicy: "Orphan",
            sourceRef: { kind: "GitRepository", name: "flux-system" },
          },
        },
        dependencies: [controllers],
      },
      {
        type: "kubernetes:source.toolkit.fluxcd.io/v1:GitRepository",
        name: "home-flux-source",
        parent,
        inputs: {
          apiVersion: "source.toolkit.fluxcd.io/v1",
          kind: "GitRepository",
          metadata: root,
          spec: { interval: "1m", url: "https://git.example.org/home.git", ref: { branch: "main" } },
        },
        dependencies: [controllers],
      },
    ]);
  });

  test("S3.2 stays at the commit in flux.revision", async () => {
    const { resources } = await make({ revision: "0123abc" });
    const [told] = summary(resources).filter(({ type }) => type.endsWith(":GitRepository"));
    expect(told?.inputs).toMatchObject({ spec: { ref: { branch: "main", commit: "0123abc" } } });
  });

  test("leaves its namespace when it is uninstalled, because nothing would finalize what is in it", async () => {
    expect((await make()).retained).toEqual([namespace]);
  });

  test("S3.1 has the credentials and the age key, as secrets, before the objects that use them", async () => {
    const { resources } = await make({ password: "the-password" }, "the-age-key");
    const secrets = summary(resources).filter(({ type }) => type === "kubernetes:core/v1:Secret");
    expect(secrets.map(({ name, inputs, dependencies }) => ({ name, inputs, dependencies }))).toEqual([
      {
        name: "home-flux-git-credentials",
        inputs: {
          apiVersion: "v1",
          kind: "Secret",
          metadata: root,
          stringData: { secret: { username: "git", password: "the-password" } },
        },
        dependencies: [namespace],
      },
      {
        name: "home-flux-sops-age",
        inputs: {
          apiVersion: "v1",
          kind: "Secret",
          metadata: { name: "sops-age", namespace: "flux-system" },
          stringData: { secret: { "age.agekey": "the-age-key" } },
        },
        dependencies: [namespace],
      },
    ]);
    const told = summary(resources).filter(({ type }) => type.includes("toolkit"));
    expect(told.map(({ dependencies }) => dependencies)).toEqual(
      Array(2).fill([
        "kubernetes:core/v1:Secret home-flux-git-credentials",
        "kubernetes:core/v1:Secret home-flux-sops-age",
        controllers,
      ]),
    );
    expect(told.map(({ inputs }) => inputs)).toMatchObject([
      { spec: { decryption: { provider: "sops", secretRef: { name: "sops-age" } } } },
      { spec: { secretRef: { name: "flux-system" } } },
    ]);
  });
});

describe("the credentials for the repository", () => {
  const { username } = source;
  test.each([
    ["nothing, where everyone may read", {}, undefined],
    ["a name and a password over HTTP", { password: "p" }, { username: "git", password: "p" }],
    ["a key and the server's over SSH", { sshKey: "k", knownHosts: "h" }, { identity: "k", known_hosts: "h" }],
  ])("are %s", (_, given, wanted) => {
    expect(gitCredentials({ username, ...given })).toEqual(wanted);
  });
});
