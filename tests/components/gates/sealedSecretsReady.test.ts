import { X509Certificate } from "node:crypto";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { systemClock } from "../../../components/gates/clock.ts";
import { sealedSecretsReady } from "../../../components/gates/sealedSecretsReady.ts";
import type { Workloads } from "../../../components/gates/workloads.ts";
import type { Deployment, KubernetesObject } from "../../../components/kubernetes/objects.ts";
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

describe("what the gate SealedSecretsReady looks at", () => {
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

  /** Looks on until the gate says so. */
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

  test("is what the controller hands out, asked for until it does", async () => {
    served = [503, "no endpoints available"];
    await until(/^does not hand out its certificate: 503 no endpoints available$/);
    served = [200, certificate];
    await until(undefined);
  });

  test("S1.7 is its pod, too, while it hands nothing out: one that crashes is named", async () => {
    served = [503, "no endpoints available"];
    const waiting = { reason: "CrashLoopBackOff", message: "back-off 10s restarting failed container" };
    const container = { name: "controller", ready: false, restartCount: 3, image: "one", state: { waiting } };
    const looks = until(/container controller: CrashLoopBackOff/);
    while (!api.asked.includes(`GET ${path}`)) await new Promise((done) => setImmediate(done));
    changePod({ conditions: [{ type: "Ready", status: "False" }], containerStatuses: [container] });
    await looks;
  });

  test("S4.7 is not what a pod has handed out that is no longer ready: another one may have another key", async () => {
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
