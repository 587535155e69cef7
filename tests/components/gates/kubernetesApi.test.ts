import { afterEach, describe, expect, test } from "@jest/globals";
import { systemClock } from "../../../components/gates/clock.ts";
import { kubernetesApi } from "../../../components/gates/kubernetesApi.ts";
import { waitFor } from "../../../components/gates/waitLoop.ts";
import { ApiServer } from "../kubernetes/apiServer.ts";
import { certificates, type ServerCertificate } from "../kubernetes/certificates.ts";

let api: ApiServer;
afterEach(() => api.stop());

function waitAt(kubeconfig: string, deadline = 20) {
  const inputs = { credentials: { kubeconfig }, answers: 3 };
  return waitFor({
    conditions: kubernetesApi.conditions(inputs),
    settings: { deadline, stable: 0 },
    clock: systemClock,
    observe: (signal) => kubernetesApi.observe(inputs, signal, systemClock),
  });
}

/** Answers with these statuses, one after the other, and then with 200. */
async function serve(
  statuses: readonly number[] = [],
  certificate: ServerCertificate = certificates.server,
): Promise<ApiServer> {
  api = new ApiServer(certificate);
  const left = [...statuses];
  api.answer = ({ url }, response) =>
    void response.writeHead((url === "/readyz" ? left.shift() : undefined) ?? 200).end("said so");
  await api.start();
  return api;
}

describe("S3.2 the gate KubernetesApi", () => {
  test("opens when the API is ready several times in a row", async () => {
    await serve([500, 200, 200, 503]);
    const end = await waitAt(api.kubeconfig());
    expect(end.kind).toBe("opened");
    expect(api.asked.filter((asked) => asked === "GET /readyz").length).toBeGreaterThanOrEqual(7);
  });

  test("opens when the API has told what it serves, which those behind the gate ask first and do not wait for long", async () => {
    await serve();
    const { answer } = api;
    const forms: unknown[] = [];
    api.answer = (request, response) => {
      if (request.url !== "/openapi/v2") return answer?.(request, response);
      forms.push(request.headers.accept);
      response.writeHead(forms.length < 3 ? 503 : 200).end();
    };
    expect((await waitAt(api.kubeconfig())).kind).toBe("opened");
    expect(forms).toEqual(Array(3).fill("application/com.github.proto-openapi.spec.v2@v1.0+protobuf"));
  });

  test("says that the API does not tell what it serves", async () => {
    await serve();
    const { answer } = api;
    api.answer = (request, response) => {
      if (request.url !== "/openapi/v2") answer?.(request, response);
    };
    expect(await waitAt(api.kubeconfig(), 2)).toMatchObject({
      kind: "timeout",
      unmet: [{ verdict: { kind: "pending", reason: "it has not put its schema together yet" } }],
    });
  });

  test("S4.4 keeps the address that was proven", async () => {
    await serve();
    const credentials = { kubeconfig: api.kubeconfig() };
    const end = await waitAt(credentials.kubeconfig);
    const server = expect.stringMatching(/^https:\/\/127\.0\.0\.1:\d+$/);
    expect(end.kind === "opened" && kubernetesApi.evidence(end.observation, { credentials, answers: 3 })).toEqual({
      server,
    });
  });

  test("S1.7 fails at once where another authority signed the certificate", async () => {
    await serve([], certificates.stranger);
    expect(await waitAt(api.kubeconfig())).toMatchObject({
      kind: "failed",
      unmet: [{ verdict: { code: "SLU-K102", remedy: expect.stringContaining("another cluster") } }],
    });
  });

  test("S1.7 fails at once where the certificate does not have the address", async () => {
    await serve();
    expect(await waitAt(api.kubeconfig("localhost"))).toMatchObject({
      kind: "failed",
      unmet: [{ verdict: { code: "SLU-K102", remedy: expect.stringContaining("certSANs") } }],
    });
  });

  test("says in the API's words why it is not ready", async () => {
    await serve(Array(100).fill(500));
    expect(await waitAt(api.kubeconfig(), 1)).toMatchObject({
      kind: "timeout",
      unmet: [{ verdict: { kind: "pending", reason: "500 said so" } }],
    });
  });

  test("does not take an answer for news that a later one has overtaken", async () => {
    await serve();
    const { answer } = api;
    let late: (() => void) | undefined;
    const ready = () => api.asked.filter((asked) => asked === "GET /readyz").length;
    api.answer = (request, response) => {
      if (request.url !== "/readyz") answer?.(request, response);
      else if (late === undefined) late = () => void response.writeHead(500).end();
      else answer?.(request, response);
      if (ready() === 3) late?.();
    };
    const end = await waitAt(api.kubeconfig());
    expect(end.kind).toBe("opened");
    expect(ready()).toBeLessThanOrEqual(5);
  });
});
