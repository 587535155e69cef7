import type { ServerResponse } from "node:http";
import { afterEach, describe, expect, test } from "@jest/globals";
import { readyFault } from "../../../components/gates/kubernetes/apiProbe.ts";
import { kubernetesApi } from "../../../components/gates/kubernetesApi.ts";
import { KubernetesClient } from "../../../components/kubernetes/client.ts";
import { type Clock, systemClock } from "../../../components/waiting/clock.ts";
import { waitFor } from "../../../components/waiting/waitLoop.ts";
import { ApiServer } from "../kubernetes/apiServer.ts";
import { certificates, type ServerCertificate } from "../kubernetes/certificates.ts";

let api: ApiServer;
afterEach(() => api.stop());

function waitAt(kubeconfig: string, deadlineSeconds = 20, clock = systemClock) {
  const inputs = { credentials: { kubeconfig }, answers: 3 };
  return waitFor({
    conditions: kubernetesApi.conditions(inputs),
    settings: { deadlineSeconds, stableSeconds: 0 },
    clock,
    observe: (signal) => kubernetesApi.observe(inputs, signal, clock),
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
  test("opens when the API is ready several times in a row [C4]", async () => {
    await serve([500, 200, 200, 503]);
    const end = await waitAt(api.kubeconfig());
    expect(end.kind).toBe("opened");
    expect(api.asked.filter((asked) => asked === "GET /readyz").length).toBeGreaterThanOrEqual(7);
  });

  test("opens when the API has listed what it serves, which later stages request first and with a short timeout", async () => {
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

  test("reports that the API does not list what it serves", async () => {
    await serve();
    const { answer } = api;
    api.answer = (request, response) => {
      if (request.url !== "/openapi/v2") answer?.(request, response);
    };
    expect(await waitAt(api.kubeconfig(), 2)).toMatchObject({
      kind: "timeout",
      unmet: [{ verdict: { kind: "pending", reason: "it has not built its schema yet" } }],
    });
  });

  test("S5.2 opens only once the API lists what it serves fast enough for Helm, and reports how long it took", async () => {
    await serve();
    const { answer } = api;
    let [skipped, slow] = [0, 2];
    const clock: Clock = { ...systemClock, now: () => systemClock.now() + skipped };
    api.answer = (request, response) => {
      // Time that nobody has to wait for.
      if (request.url === "/openapi/v2" && slow-- > 0) skipped += 12_000;
      answer?.(request, response);
    };
    expect((await waitAt(api.kubeconfig(), 20, clock)).kind).toBe("opened");
    expect(api.asked.filter((asked) => asked === "GET /openapi/v2")).toHaveLength(3);
    slow = 1000;
    expect(await waitAt(api.kubeconfig(), 4, clock)).toMatchObject({
      kind: "timeout",
      unmet: [{ verdict: { kind: "pending", reason: "its schema took 12 s" } }],
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

  test("S1.7(4) fails at once if another authority signed the certificate", async () => {
    await serve([], certificates.stranger);
    expect(await waitAt(api.kubeconfig())).toMatchObject({
      kind: "failed",
      unmet: [{ verdict: { code: "SLU-K102", remedy: expect.stringContaining("another cluster") } }],
    });
  });

  test("S1.7(4) fails at once if the certificate does not have the address", async () => {
    await serve();
    expect(await waitAt(api.kubeconfig("localhost"))).toMatchObject({
      kind: "failed",
      unmet: [{ verdict: { code: "SLU-K102", remedy: expect.stringContaining("certSANs") } }],
    });
  });

  test("S5.4 has patience with a busy API server, which takes seconds for an answer", async () => {
    await serve();
    const late: (() => void)[] = [];
    const clock: Clock = {
      now: () => 0,
      after(milliseconds, call) {
        if (milliseconds <= 4_000) late.push(call);
        return () => {};
      },
    };
    const asked = new Promise<ServerResponse>((resolve) => {
      api.answer = (_, response) => resolve(response);
    });
    const fault = readyFault(new KubernetesClient(api.kubeconfig(), clock), new AbortController().signal, false);
    const response = await asked;
    // Four seconds later.
    for (const call of late) call();
    response.end("ok");
    expect(await fault).toBeUndefined();
  });

  test("reports in the API's words why it is not ready", async () => {
    await serve(Array(100).fill(500));
    expect(await waitAt(api.kubeconfig(), 1)).toMatchObject({
      kind: "timeout",
      unmet: [{ verdict: { kind: "pending", reason: "500 said so" } }],
    });
  });

  test("names the checks that fail, of those that the API lists", async () => {
    await serve();
    const list =
      "[+]ping ok\n[+]etcd ok\n[-]poststarthook/rbac/bootstrap-roles failed: reason withheld\nreadyz check failed\n";
    api.answer = (_, response) => void response.writeHead(500).end(list);
    expect(await waitAt(api.kubeconfig(), 1)).toMatchObject({
      unmet: [{ verdict: { reason: "500 poststarthook/rbac/bootstrap-roles failed: reason withheld" } }],
    });
  });

  test("asks an API that is not ready on one connection, and proves that it is ready on new ones", async () => {
    await serve(Array(10).fill(500));
    const { answer } = api;
    // It has its schema at once, on a connection of its own.
    api.answer = (request, response) => answer?.(request, response);
    const end = await waitAt(api.kubeconfig());
    expect(end.kind).toBe("opened");
    const questions = api.asked.filter((asked) => asked === "GET /readyz").length;
    expect(questions).toBeGreaterThanOrEqual(13);
    // The first question and the schema; one while it was not ready; one for each good answer after the first.
    expect(api.connections).toBeLessThanOrEqual(2 + 1 + (questions - 11) + 1);
  });

  test("does not wait for an answer on the connection that it shares", async () => {
    await serve();
    let number = 0;
    let unanswered: ServerResponse | undefined;
    let isWaitedFor: boolean | undefined;
    api.answer = ({ url }, response) => {
      if (url === "/readyz") number += 1;
      if (url === "/readyz" && number === 3) {
        unanswered = response;
        return;
      }
      if (number === 4) isWaitedFor ??= unanswered?.destroyed === false;
      response.writeHead(url === "/readyz" && number < 3 ? 500 : 200).end();
    };
    expect((await waitAt(api.kubeconfig())).kind).toBe("opened");
    expect(isWaitedFor).toBe(true);
  });

  test("S1.7(7) ignores an answer that a later one has overtaken", async () => {
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

test("the evidence of KubernetesApi in a few words", () => {
  expect(kubernetesApi.words({ server: "https://192.0.2.1:6443" })).toBe("ready at https://192.0.2.1:6443");
});
