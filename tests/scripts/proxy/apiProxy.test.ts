import { request as httpRequest } from "node:http";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { ApiProxy } from "../../../scripts/proxy/apiProxy.ts";
import { SteppedClock } from "../../components/gates/steppedClock.ts";
import { until } from "../support/child.ts";
import { answers, cuts, cutsInTheMiddle, FakeApi, neverAnswers } from "./fakeApi.ts";

const token = "t".repeat(64);
const api = new FakeApi();
beforeAll(() => api.start());
afterAll(() => api.stop());

let clock: SteppedClock;
let proxy: ApiProxy;
let said: string[];
beforeEach(async () => {
  clock = new SteppedClock();
  said = [];
  const report = (text: string) => void said.push(text);
  proxy = await ApiProxy.start({ title: "Hetzner", url: api.url, clock, random: () => 0, report });
});
afterEach(() => proxy.close());

interface Got {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

/** A call of the plugin. */
function call(line: string, body = "", signal = new AbortController().signal): Promise<Got> {
  const [method = "", path = ""] = line.split(" ");
  return new Promise((done, fail) => {
    const headers = { authorization: `Bearer ${token}`, ...(body !== "" && { "content-type": "application/json" }) };
    const sent = httpRequest(`${proxy.url}${path}`, { method, headers, signal, agent: false });
    sent.on("error", fail);
    sent.on("response", async (response) => {
      const text = Buffer.concat(await response.toArray()).toString("utf8");
      done({ status: response.statusCode ?? 0, headers: response.headers, body: text });
    });
    sent.end(body);
  });
}

const received = (count: number) => until(() => api.received.length === count, `request ${count}`);
const busy = answers(503, { error: { code: "unavailable", message: "busy" } });
const made = answers(201, { server: { id: 17 } });

/** Advances the time to the next attempt each time that the last one has ended, until that many were made. */
async function attempts(count: number): Promise<void> {
  for (let made = 1; made < count; made += 1) {
    await received(made);
    // Beside the pause there is the timer that reports the call.
    await until(() => clock.pending === 2, "a pause");
    await clock.advance(made === 1 ? 1_000 : 10_000);
  }
  await received(count);
}

describe("S5.2 a call through the proxy", () => {
  test("arrives as it was made, and its answer comes back as it is", async () => {
    const limits = { "RateLimit-Limit": "3600", "RateLimit-Remaining": "3599", "X-Correlation-Id": "52a0f1d3ab5c" };
    api.behave(answers(201, { server: { id: 17 } }, limits));
    const got = await call("POST /servers?x=1", '{"name":"cp-1"}');
    expect(got).toMatchObject({ status: 201, body: '{"server":{"id":17}}' });
    expect(got.headers).toMatchObject({ "ratelimit-remaining": "3599", "x-correlation-id": "52a0f1d3ab5c" });
    const [{ line, headers, body } = { line: "", headers: {}, body: "" }] = api.received;
    expect({ line, body }).toEqual({ line: "POST /v1/servers?x=1", body: '{"name":"cp-1"}' });
    expect(headers).toMatchObject({ authorization: `Bearer ${token}`, host: new URL(api.url).host });
  });

  test.each([
    ["an answer without a body", 204, ""],
    ["a refusal", 404, '{"error":{"code":"not_found"}}'],
  ])("gets %s at once", async (_, status, body) => {
    api.behave((__, response) => void response.writeHead(status).end(body));
    expect(await call("DELETE /networks/3")).toMatchObject({ status, body });
    expect(api.received).toHaveLength(1);
  });

  test("is listened for on the loopback interface alone", () => {
    expect(new URL(proxy.url).hostname).toBe("127.0.0.1");
  });
});

describe("S5.2 what fails for the moment costs the run nothing", () => {
  test.each([
    ["a 503", busy],
    ["a 500", answers(500, {})],
    ["a 429", answers(429, { error: { code: "rate_limit_exceeded", message: "limit" } })],
    ["a connection that is cut", cuts],
    ["a connection that is cut in the middle of an answer", cutsInTheMiddle],
  ])("%s, where something is read", async (_, fault) => {
    api.behave(fault, fault, answers(200, { servers: [] }));
    const got = call("GET /servers");
    await attempts(3);
    expect(await got).toMatchObject({ status: 200, body: '{"servers":[]}' });
    expect(new Set(api.received.map(({ line }) => line))).toEqual(new Set(["GET /v1/servers"]));
  });

  test("an answer that got lost, where something is created: the API itself says that it exists", async () => {
    const exists = { error: { code: "uniqueness_error", message: "server name is already used" } };
    api.behave(cuts, answers(409, exists));
    const got = call("POST /servers", '{"name":"cp-1"}');
    await attempts(2);
    expect(await got).toMatchObject({ status: 409, body: JSON.stringify(exists) });
    expect(api.received.map(({ body }) => body)).toEqual(['{"name":"cp-1"}', '{"name":"cp-1"}']);
  });

  test("an API that refuses connections for a while", async () => {
    await api.stop();
    const got = call("POST /servers/17/actions/attach_to_network", "{}");
    await until(() => clock.pending === 2, "a pause");
    api.behave(made);
    await api.start();
    await clock.advance(1_000);
    expect(await got).toMatchObject({ status: 201 });
  });
});

describe("S5.2 what may have had an effect is not done twice", () => {
  test.each([
    ["an action whose answer got lost", cuts, "status", 503],
    ["an action to which the API answers 500", answers(500, {}), "status", 500],
  ])("%s", async (_, fault, key, value) => {
    api.behave(fault);
    expect(await call("POST /servers/17/actions/attach_to_network", "{}")).toMatchObject({ [key]: value });
    expect(api.received).toHaveLength(1);
  });
});

describe("S5.2 no call stays without an answer", () => {
  test("an action that is never answered ends after 30 s, and is reported from 5 s on", async () => {
    api.behave(neverAnswers);
    const got = call("POST /servers/17/actions/attach_to_network", "{}");
    await received(1);
    await clock.advance(29_999);
    expect(said).toEqual([5, 10, 20].map((s) => `Hetzner has not answered ${action} for ${s} s`));
    await clock.advance(1);
    const { status, body } = await got;
    expect({ status, ...JSON.parse(body).error }).toMatchObject({
      ...{ status: 503, code: "no_answer", message: `${action}: timed out after 30 s` },
    });
  });

  const action = "POST /v1/servers/17/actions/attach_to_network";

  test("a creation that is never answered is made twice, and ends after a minute", async () => {
    api.behave(neverAnswers);
    const got = call("POST /servers", "{}");
    await received(1);
    await clock.advance(30_000);
    await until(() => clock.pending === 2, "a pause");
    await clock.advance(1_000);
    await received(2);
    await clock.advance(30_000);
    expect(JSON.parse((await got).body).error.message).toBe("POST /v1/servers: timed out after 30 s, 2 times in 61 s");
    expect(api.received).toHaveLength(2);
    expect(clock.pending).toBe(0);
  });

  test("an API that only fails is given up after a minute", async () => {
    api.behave(busy);
    const got = call("GET /servers");
    let isOver = false;
    void got.then(() => {
      isOver = true;
    });
    while (!isOver) {
      await until(() => isOver || clock.pending === 2, "a pause");
      await clock.advance(1_000);
    }
    expect(JSON.parse((await got).body).error.message).toMatch(
      /^GET \/v1\/servers: status code 503: busy \(unavailable\), \d+ times in 5\d s$/,
    );
    expect(said[0]).toMatch(
      /^Hetzner: GET \/v1\/servers failed 3 times in 5 s, and is repeated: status code 503: busy/,
    );
  });

  test("a call that the plugin gives up is not made any more", async () => {
    api.behave(busy);
    const gone = new AbortController();
    const got = call("GET /servers", "", gone.signal).catch(({ name }: Error) => name);
    await received(1);
    gone.abort();
    expect(await got).toBe("AbortError");
    for (let second = 0; second < 60; second += 1) await clock.advance(1_000);
    expect(api.received.length).toBeLessThanOrEqual(2);
    expect(clock.pending).toBe(0);
  });

  test("nothing that is reported or answered has the token", async () => {
    api.behave(neverAnswers);
    const got = call("POST /servers/17/actions/reboot", "{}");
    await received(1);
    await clock.advance(30_000);
    expect(`${said.join()}${JSON.stringify(await got)}`).not.toContain(token);
  });
});
