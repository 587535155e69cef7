import { X509Certificate } from "node:crypto";
import { describe, expect, test } from "@jest/globals";
import { sealedSecretsReady } from "../../../components/gates/sealedSecretsReady.ts";
import type { Workloads } from "../../../components/gates/workloads.ts";
import { certificates } from "../kubernetes/certificates.ts";
import { credentials, look, recorded, verdicts } from "./kubernetesLooks.ts";

type Look = Parameters<typeof sealedSecretsReady.evidence>[0];
const controller = "sealed-secrets-controller";
const certificate = certificates.ca;
const ours = new X509Certificate(certificate).fingerprint256;
const seen = (served?: Look["served"]): Look => ({
  ...look(recorded<Workloads>("sealedSecrets")),
  controller,
  ...(served && { served }),
});
const inputs = { credentials, namespace: "kube-system", controller };
const judge = (look: Look, wanted: string | undefined = certificate) =>
  verdicts(sealedSecretsReady.conditions({ ...inputs, ...(wanted && { certificate: wanted }) }), look);

describe("S3.2 the gate SealedSecretsReady", () => {
  test("opens where the controller hands out our certificate, and keeps that", () => {
    expect(judge(seen({ fingerprint: ours }))).toEqual([]);
    expect(sealedSecretsReady.evidence(seen({ fingerprint: ours }), inputs)).toEqual({
      images: { controller: "docker.io/bitnami/sealed-secrets-controller:0.39.1" },
      certificate: ours,
    });
  });

  test("S4.7 fails at once where it uses another key, with what to do", () => {
    expect(judge(seen({ fingerprint: "00:11" }))).toEqual([
      {
        kind: "failed",
        where: `Deployment ${controller}`,
        reason: `its certificate is 00:11, not ${ours}`,
        code: "SLU-K114",
        remedy: expect.stringContaining("sealedsecrets.bitnami.com/sealed-secrets-key"),
      },
    ]);
  });

  test("waits while it does not hand one out", () => {
    expect(judge(seen())).toMatchObject([{ kind: "pending", reason: "is not asked for its certificate yet" }]);
    expect(judge(seen({ fault: "no endpoints" }))).toMatchObject([{ kind: "pending", reason: "no endpoints" }]);
  });

  test("is content with a controller that is ready where no key is ours", () => {
    expect(judge(seen(), "")).toEqual([]);
  });

  test("waits for the controller", () => {
    expect(judge({ ...seen({ fingerprint: ours }), deployments: [] })).toMatchObject([{ reason: "is not there" }]);
  });
});
