import { X509Certificate } from "node:crypto";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import type { Workloads } from "../../../components/gates/kubernetes/workloads.ts";
import { sealedSecretsReady } from "../../../components/gates/sealedSecretsReady.ts";
import type { Deployment, KubernetesObject } from "../../../components/kubernetes/objects.ts";
import { systemClock } from "../../../components/waiting/clock.ts";
import { ApiServer } from "../kubernetes/apiServer.ts";
import { certificates } from "../kubernetes/certificates.ts";
import { ObjectsApi } from "../kubernetes/objectsApi.ts";
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
  test("opens when the controller serves our certificate, and keeps that as evidence", () => {
    expect(judge(seen({ fingerprint: ours }))).toEqual([]);
    expect(sealedSecretsReady.evidence(seen({ fingerprint: ours }), inputs)).toEqual({
      images: { controller: "docker.io/bitnami/sealed-secrets-controller:0.39.1" },
      certificate: ours,
    });
  });

  test("S4.7 fails at once if it uses another key, with what to do", () => {
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

  test("waits while it serves none", () => {
    expect(judge(seen())).toMatchObject([{ kind: "pending", reason: "was not asked for its certificate yet" }]);
    expect(judge(seen({ fault: "no endpoints" }))).toMatchObject([{ kind: "pending", reason: "no endpoints" }]);
  });

  test("accepts any ready controller if the environment has no key", () => {
    expect(judge(seen(), "")).toEqual([]);
  });

  test("waits for the controller", () => {
    expect(judge({ ...seen({ fingerprint: ours }), deployments: [] })).toMatchObject([{ reason: "does not exist" }]);
  });
});

describe("the observation of SealedSecretsReady", () => {
  const path = "/api/v1/namespaces/kube-system/services/http:sealed-secrets-controller:http/proxy/v1/cert.pem";
  const deployments = "/apis/apps/v1/namespaces/kube-system/deployments";
  const pods = "/api/v1/namespaces/kube-system/pods";
  const stop = { current: new AbortController() };
  let api: ApiServer;
  let cluster: ObjectsApi;
  let served: readonly [status: number, text: string];

  beforeEach(async () => {
    stop.current = new AbortController();
    api = new ApiServer();
    await api.start();
    cluster = new ObjectsApi(api);
    cluster.other = (asked, response) => {
      if (asked === path) response.writeHead(served[0]).end(served[1]);
      return asked === path;
    };
    for (const one of seen().deployments) cluster.put(deployments, one);
    for (const one of seen().pods) cluster.put(pods, one);
  });
  afterEach(async () => {
    stop.current.abort();
    await api.stop();
  });

  /** Observes until the gate's conditions have this result. */
  async function until(reason: RegExp | undefined): Promise<void> {
    const own = { ...inputs, credentials: { kubeconfig: api.kubeconfig() }, certificate };
    for await (const one of sealedSecretsReady.observe(own, stop.current.signal, systemClock)) {
      const [first] = verdicts(sealedSecretsReady.conditions(own), one);
      if (reason === undefined ? first === undefined : first?.kind === "pending" && reason.test(first.reason)) return;
    }
  }
  const changePod = (status: object) => {
    const [pod] = seen().pods;
    const [deployment] = seen().deployments;
    cluster.put(pods, { ...pod, status: { ...pod?.status, ...status } } as KubernetesObject);
    cluster.put(deployments, { ...deployment, status: { ...deployment?.status, availableReplicas: 0 } } as Deployment);
  };

  test("is the certificate that the controller serves, requested until it does", async () => {
    served = [503, "no endpoints available"];
    await until(/^does not serve its certificate: 503 no endpoints available$/);
    served = [200, certificate];
    await until(undefined);
  });

  test("S1.7 has its pod, too, while it serves none: one that crashes is named", async () => {
    served = [503, "no endpoints available"];
    const waiting = { reason: "CrashLoopBackOff", message: "back-off 10s restarting failed container" };
    const container = { name: "controller", ready: false, restartCount: 3, image: "one", state: { waiting } };
    const looks = until(/container controller: CrashLoopBackOff/);
    while (!api.asked.includes(`GET ${path}`)) await new Promise((done) => setImmediate(done));
    changePod({ conditions: [{ type: "Ready", status: "False" }], containerStatuses: [container] });
    await looks;
  });

  test("S4.7 ignores the certificate of a pod that is no longer ready, because another may have another key", async () => {
    served = [200, certificate];
    const own = { ...inputs, credentials: { kubeconfig: api.kubeconfig() }, certificate };
    const told: unknown[] = [];
    for await (const one of sealedSecretsReady.observe(own, stop.current.signal, systemClock)) {
      const isReady = one.deployments[0]?.status?.availableReplicas === 1;
      if (isReady && one.served !== undefined) changePod({ conditions: [{ type: "Ready", status: "False" }] });
      if (isReady) continue;
      told.push(one.served);
      break;
    }
    expect(told).toEqual([undefined]);
  });
});

test("the evidence of SealedSecretsReady in a few words", () => {
  expect(sealedSecretsReady.words({ images: { controller: "sealed:0.39.1" }, certificate: "F6:D7:DC:B6:0D" })).toBe(
    "version 0.39.1, sealing key F6:D7:DC:B6…",
  );
  expect(sealedSecretsReady.words({ images: { controller: "sealed:1" } })).toBe("version 1, its own key");
});
