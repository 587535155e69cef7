import { createSecureServer } from "node:http2";
import type { Server } from "node:net";
import { createServer } from "node:tls";
import { describe, expect, test } from "@jest/globals";
import { isInMaintenance } from "../../../../components/talos/client/isInMaintenance.ts";
import { judgeNode, type Look, probe } from "../../../../components/talos/client/nodeState.ts";
import { certificates } from "../../kubernetes/certificates.ts";

const trusted = { kind: "trusted" } as const;
const stranger = { kind: "untrusted", why: "UNABLE_TO_VERIFY_LEAF_SIGNATURE" } as const;
const untrusted = { ...stranger, isWelcome: true } as const;
const unwelcome = { ...stranger, isWelcome: false } as const;
const refused = { kind: "refused", why: "connect ECONNREFUSED 198.51.100.5:50000" } as const;
const answered = (stage: string) => ({ kind: "answered", version: "v1.13.8", stage }) as const;
const unanswered = (why: string) => ({ kind: "failed", why }) as const;

// The combinations that a probe can have: most were observed on nodes of 1.12 and 1.13 in the lab, the rest (no TLS, an invalid certificate) are made up.
const outcomes: readonly (readonly [name: string, looks: readonly Look[], kind: string])[] = [
  ["maintenance", [{ handshake: untrusted, answer: answered("maintenance") }], "maintenance"],
  ["the way into maintenance", [{ handshake: untrusted, answer: answered("booting") }], "settling"],
  ["a worker of 1.13 without its certificate", [{ handshake: untrusted, answer: answered("running") }], "settling"],
  ["ours, booting", [{ handshake: trusted, answer: answered("booting") }], "ours"],
  ["ours, and our role may not read", [{ handshake: trusted, answer: answered("") }], "ours"],
  ["install or reboot", [{ handshake: refused }], "unreachable"],
  ["nothing there", [{ handshake: { kind: "silent", why: "no answer within 3 s" } }], "unreachable"],
  ["no TLS", [{ handshake: { kind: "broken", why: "write EPROTO" } }], "unreachable"],
  [
    "ours, but the address is missing from the certificate",
    [{ handshake: { kind: "invalid", of: "name", why: "its certificate is valid for IP Address:10.0.0.11" } }],
    "invalid",
  ],
  [
    "ours, but one of the clocks is wrong",
    [{ handshake: { kind: "invalid", of: "time", why: "its certificate is valid from ... to ..." } }],
    "invalid",
  ],
  ["ours, and going down", [{ handshake: trusted, answer: unanswered("read ECONNRESET") }], "unreachable"],
];

describe("the state of a node (S0.2)", () => {
  test.each(outcomes)("%s", (_, looks, kind) => {
    expect(judgeNode(looks).kind).toBe(kind);
  });

  test("is foreign when it has closed two handshakes in a row", () => {
    const look: Look = { handshake: unwelcome };
    expect(judgeNode([look, look]).kind).toBe("foreign");
    expect(judgeNode([look]).kind).toBe("unreachable");
  });

  test.each(["read ECONNRESET", "14 UNAVAILABLE: connection reset by peer", "Deadline exceeded"])(
    "is not foreign when it accepts calls without a certificate, whatever their result: %s",
    (why) => {
      const look: Look = { handshake: untrusted, answer: unanswered(why) };
      expect(judgeNode([look, look])).toStrictEqual({ kind: "unreachable", why, refused: false });
    },
  );

  test("is not foreign when it goes down in maintenance between two probes", () => {
    const goesDown: Look = { handshake: unwelcome };
    expect(judgeNode([goesDown, { handshake: refused }])).toStrictEqual({
      kind: "unreachable",
      why: refused.why,
      refused: true,
    });
    expect(judgeNode([goesDown, { handshake: trusted, answer: answered("booting") }]).kind).toBe("ours");
  });

  describe("on the wire", () => {
    const there = "127.0.0.7";
    const { ca, server, stranger: other } = certificates;
    const base64 = (text: string) => Buffer.from(text).toString("base64");
    const credentials = { ca: base64(ca), crt: base64(server.cert), key: base64(server.key) };

    const seen = (node: Server) => served(node, () => probe(there, credentials));

    async function served<T>(node: Server, ask: () => Promise<T>): Promise<T> {
      await new Promise<void>((done) => node.listen(50000, there, done));
      try {
        return await ask();
      } finally {
        await new Promise((done) => node.close(done));
      }
    }

    test("names the names in its certificate when it is reached by another (S2.6)", async () => {
      const why = "its certificate is valid for IP Address:127.0.0.1";
      expect(await seen(createServer(server))).toEqual({ kind: "invalid", of: "name", why });
    });

    test("is foreign when it requires a certificate of another PKI", async () => {
      const mutual = { requestCert: true, rejectUnauthorized: true, ca: other.cert, ALPNProtocols: ["h2"] };
      expect(await seen(createSecureServer({ ...other, ...mutual }))).toMatchObject({ kind: "foreign" });
    });

    test("S1.6 is in maintenance for the program only if it says so itself, which one handshake rules out for others", async () => {
      const is = (node: Server) => served(node, () => isInMaintenance(there, credentials));
      expect(await is(createServer({ ...server, ALPNProtocols: ["h2"] }))).toBe(false);
      const node = createSecureServer(other);
      const calls: string[] = [];
      node.on("stream", (stream, headers) => {
        calls.push(String(headers[":path"]));
        stream.respond({ ":status": 200, "content-type": "application/grpc", "grpc-status": "7" }, { endStream: true });
      });
      expect(await is(node)).toBe(false);
      expect(calls.length).toBeGreaterThan(0);
      expect(await isInMaintenance(there, credentials)).toBe(false);
    });

    test("is asked again by the program while its calls fail transiently, because it is up (S1.6)", async () => {
      const statuses: string[] = [];
      const node = createSecureServer(other);
      node.on("stream", (stream) => {
        // Each probe makes two calls.
        const grpcStatus = statuses.length < 4 ? "14" : "7";
        statuses.push(grpcStatus);
        stream.respond(
          { ":status": 200, "content-type": "application/grpc", "grpc-status": grpcStatus },
          { endStream: true },
        );
      });
      expect(await served(node, () => isInMaintenance(there, credentials))).toBe(false);
      expect(statuses).toEqual(["14", "14", "14", "14", "7", "7"]);
    });

    test("is not foreign in maintenance when its calls fail transiently (S1.7(6))", async () => {
      const node = createSecureServer(other);
      const failed = { "grpc-status": "14", "grpc-message": "connection reset by peer" };
      node.on("stream", (stream) =>
        stream.respond({ ":status": 200, "content-type": "application/grpc", ...failed }, { endStream: true }),
      );
      const why = "connection reset by peer";
      expect(await seen(node)).toEqual({ kind: "unreachable", why, refused: false });
    });
  });
});
