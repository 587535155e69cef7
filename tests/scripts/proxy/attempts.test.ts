import { describe, expect, test } from "@jest/globals";
import {
  type ApiAnswer,
  FailedAnswer,
  lastAnswer,
  mayRepeat,
  Unanswered,
  unlessFailed,
} from "../../../scripts/proxy/attempts.ts";
import { judge } from "../../../scripts/resume/transient.ts";

const answer = (status: number, body: unknown = ""): ApiAnswer => {
  return { status, headers: ["X-Correlation-Id", "1"], body: Buffer.from(JSON.stringify(body)) };
};
const failed = (status: number) => new FailedAnswer(answer(status));
const refused = new Unanswered("connect ECONNREFUSED 192.0.2.10:443", { wasSent: false, isTransient: true });
const cut = new Unanswered("socket hang up (ECONNRESET)", { wasSent: true, isTransient: true });
const late = new Unanswered("timed out after 30 s", { wasSent: true, isTransient: true });
const misspelt = new Unanswered("getaddrinfo ENOTFOUND api.hetzner.cluod", { wasSent: false, isTransient: false });
const request = (line: string) => {
  const [method = "", path = ""] = line.split(" ");
  return { method, path };
};

/** It reads, replaces, or creates what has a name of its own. */
const repeatable = [
  ...["GET /v1/servers?name=cp-1", "HEAD /v1/servers/17", "PUT /v1/servers/17"],
  ...["POST /v1/servers", "POST /v1/load_balancers", "POST /v1/networks"],
];
/** A second one might do more than the first, or fail where the first succeeded. */
const once = [
  ...["POST /v1/servers/17/actions/attach_to_network", "POST /v1/load_balancers/4/actions/add_service"],
  ...["DELETE /v1/servers/17", "DELETE /v1/networks/3"],
];
const unclear = [cut, late, failed(500), failed(502), failed(504)];
const untaken = [refused, failed(429), failed(503)];

describe("S5.2 a request to the API is sent again", () => {
  test.each([...repeatable, ...once])("after the API did not take it: %s", (line) => {
    for (const error of untaken) expect(mayRepeat(request(line), error)).toBe(true);
  });

  test.each(repeatable)("although it may have taken effect, because a second one does no more: %s", (line) => {
    for (const error of unclear) expect(mayRepeat(request(line), error)).toBe(true);
  });

  test.each(once)("only if it certainly had no effect: %s", (line) => {
    for (const error of unclear) expect(mayRepeat(request(line), error)).toBe(false);
  });

  test.each([...repeatable, ...once])("never where someone has to do something first: %s", (line) => {
    for (const error of [misspelt, new Error("a bug")]) expect(mayRepeat(request(line), error)).toBe(false);
  });
});

describe("S5.2 an answer of the API", () => {
  test.each([200, 201, 204, 301, 400, 401, 403, 404, 409, 412, 422, 423])(
    "goes to the plugin with status %d",
    (status) => {
      expect(unlessFailed(answer(status))).toEqual(answer(status));
    },
  );

  test.each([429, 500, 502, 503, 504])("counts as a failed attempt with status %d", (status) => {
    expect(() => unlessFailed(answer(status))).toThrow(FailedAnswer);
  });
});

describe("S5.2 the plugin gets, when no further attempt is made,", () => {
  const server = "hcloud:index/server:Server";
  const create = request("POST /v1/servers");
  const attach = request("POST /v1/servers/17/actions/attach_to_network");
  /** As the plugin words an error of the API. */
  const worded = ({ body }: ApiAnswer) => {
    const { code, message } = JSON.parse(body.toString()).error;
    return `creating urn:pulumi:dev::sluice::${server}::dev-cp-1: 1 error occurred:\n\t* ${message} (${code})\n\n`;
  };

  test("the API's own answer where the request must not be sent again", () => {
    const own = answer(500, { error: { code: "server_error", message: "an error occurred" } });
    expect(lastAnswer(attach, { error: new FailedAnswer(own), attempts: 1 }, 1)).toBe(own);
  });

  test.each([
    ["refused the connection", create, refused, 7, `POST /v1/servers: ${refused.message}, 7 times in 60 s`],
    [
      "reset the connection",
      attach,
      cut,
      1,
      "POST /v1/servers/17/actions/attach_to_network: socket hang up (ECONNRESET)",
    ],
    ["did not answer in time", create, late, 2, "POST /v1/servers: timed out after 30 s, 2 times in 60 s"],
    ["answered 502", create, failed(502), 9, "POST /v1/servers: status code 502, 9 times in 60 s"],
  ])("an error that the plugin does not retry and 'up' resumes after: %s", (seen, made, error, attempts, message) => {
    const given = lastAnswer(made, { error, attempts }, 60.2);
    expect(given).toMatchObject({ status: 503, headers: ["Content-Type", "application/json"] });
    expect(JSON.parse(given.body.toString())).toEqual({ error: { code: "no_answer", message, details: null } });
    expect(judge({ type: server, name: "dev-cp-1", reason: worded(given) })).toEqual({ kind: "transient", seen });
  });

  test("the API's own words where it limited the calls for longer", () => {
    const limit = { error: { code: "rate_limit_exceeded", message: "limit of 3600 requests per hour reached" } };
    const given = lastAnswer(create, { error: new FailedAnswer(answer(429, limit)), attempts: 8 }, 58);
    expect(worded(given)).toContain(
      "POST /v1/servers: status code 429: limit of 3600 requests per hour reached (rate_limit_exceeded), 8 times in 58 s (no_answer)",
    );
    expect(judge({ type: server, name: "dev-cp-1", reason: worded(given) })).toMatchObject({ seen: "answered 429" });
  });

  test("what ends the run, where someone has to act: a name that does not exist", () => {
    const given = lastAnswer(create, { error: misspelt, attempts: 1 }, 0);
    expect(judge({ type: server, name: "dev-cp-1", reason: worded(given) })).toEqual({ kind: "final" });
  });

  test("nothing of a query", () => {
    const given = lastAnswer(request("GET /v1/servers?name=secret"), { error: late, attempts: 1 }, 30);
    expect(given.body.toString()).toContain("GET /v1/servers: timed out");
    expect(given.body.toString()).not.toContain("secret");
  });
});
