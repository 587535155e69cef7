import { describe, expect, test } from "@jest/globals";
import { fingerprint, SealedSecrets, type SealingKey } from "../../../components/platform/sealedSecrets.ts";
import { recordPlatform, release, releaseType, summary } from "./platformResources.ts";

const sealingKey: SealingKey = { certificate: "the certificate", key: "the key" };
const make = (key?: SealingKey) =>
  recordPlatform(
    (provider) => new SealedSecrets("home-sealed-secrets", { version: "2.19.3", sealingKey: key }, { provider }),
  );
const controller = release(
  "sealed-secrets",
  "https://bitnami-labs.github.io/sealed-secrets",
  "2.19.3",
  "sealed-secrets",
  "kube-system",
);
const parent = "sluice:platform:SealedSecrets home-sealed-secrets";

describe("the release of sealed-secrets", () => {
  test("S4.7 finds this environment's key when it starts, and never generates another", async () => {
    const { resources } = await make(sealingKey);
    expect(summary(resources)).toEqual([
      {
        type: "kubernetes:core/v1:Secret",
        name: "home-sealed-secrets-key",
        parent,
        inputs: {
          apiVersion: "v1",
          kind: "Secret",
          metadata: {
            name: `sealed-secrets-key-${fingerprint(sealingKey)}`,
            namespace: "kube-system",
            labels: { "sealedsecrets.bitnami.com/sealed-secrets-key": "active" },
          },
          type: "kubernetes.io/tls",
          stringData: { secret: { "tls.crt": "the certificate", "tls.key": "the key" } },
        },
        dependencies: [],
      },
      {
        type: releaseType,
        name: "home-sealed-secrets-release",
        parent,
        inputs: {
          ...controller,
          values: {
            fullnameOverride: "sealed-secrets-controller",
            keyrenewperiod: "0",
            podAnnotations: { "checksum/sealing-key": fingerprint(sealingKey) },
          },
        },
        dependencies: ["kubernetes:core/v1:Secret home-sealed-secrets-key"],
      },
    ]);
  });

  test("S4.7 keeps a former key in the cluster, because secrets in git are sealed for it", async () => {
    const { retained } = await make(sealingKey);
    expect(retained).toEqual(["kubernetes:core/v1:Secret home-sealed-secrets-key"]);
    const other = { ...sealingKey, certificate: "another certificate" };
    expect(fingerprint(other)).not.toBe(fingerprint(sealingKey));
  });

  test("generates and renews its own key if none is configured", async () => {
    const { resources } = await make();
    expect(summary(resources)).toEqual([
      {
        type: releaseType,
        name: "home-sealed-secrets-release",
        parent,
        inputs: { ...controller, values: { fullnameOverride: "sealed-secrets-controller" } },
        dependencies: [],
      },
    ]);
  });
});
