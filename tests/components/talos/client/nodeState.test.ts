import { createSecureServer } from "node:http2";
import type { Server } from "node:net";
import { createServer } from "node:tls";
import { describe, expect, test } from "@jest/globals";
import { judgeNode, type Look, probe } from "../../../../components/talos/client/nodeState.ts";
import { certificates } from "../../kubernetes/certificates.ts";

const trusted = { kind: "trusted" } as const;
const stranger = { kind: "untrusted", why: "UNABLE_TO_VERIFY_LEAF_SIGNATURE" } as const;
const untrusted = { ...stranger, isWelcome: true } as const;
const unwelcome = { ...stranger, isWelcome: false } as const;
const refused = { kind: "refused", why: "connect ECONNREFUSED 198.51.100.5:50000" } as const;
const answered = (stage: string) => ({ kind: "answered", version: "v1.13.8", stage }) as const;
const unanswered = (why: string) => ({ kind: "failed", why }) as const;

// The combinations that a look can have: most were seen on nodes of 1.12 and 1.13 in the lab, the rest (no TLS, an invalid certificate) are made up.
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
    "ours, but the certificate lacks the address",
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

describe("Node state (S0.2)", () => {
  test.each(outcomes)("%s", (_, looks, kind) => {
    expect(judgeNode(looks).kind).toBe(kind);
  });

  test("foreign when it has hung up on us twice", () => {
    const look: Look = { handshake: unwelcome };
    expect(judgeNode([look, look]).kind).toBe("foreign");
    expect(judgeNode([look]).kind).toBe("unreachable");
  });

  test.each(["read ECONNRESET", "14 UNAVAILABLE: connection reset by peer", "Deadline exceeded"])(
    "a node that takes calls of anybody is not foreign, whatever becomes of them: %s",
    (why) => {
      const look: Look = { handshake: untrusted, answer: unanswered(why) };
      expect(judgeNode([look, look])).toStrictEqual({ kind: "unreachable", why, refused: false });
    },
  );

  test("a node in maintenance that goes down between two looks is not foreign", () => {
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

    async function seen(node: Server): Promise<unknown> {
      await new Promise<void>((done) => node.listen(50000, there, done));
      try {
        return await probe(there, credentials);
      } finally {
        await new Promise((done) => node.close(done));
      }
    }

    test("a node that is reached by a name that its certificate lacks is told by the names that it has (S2.6)", async () => {
      const why = "its certificate is valid for IP Address:127.0.0.1";
      expect(await seen(createServer(server))).toEqual({ kind: "invalid", of: "name", why });
    });

    test("one that wants a certificate of another PKI is foreign", async () => {
      const mutual = { requestCert: true, rejectUnauthorized: true, ca: other.cert, ALPNProtocols: ["h2"] };
      expect(await seen(createSecureServer({ ...other, ...mutual }))).toMatchObject({ kind: "foreign" });
    });

    test("one in maintenance whose calls fail in passing is not (S1.7-6)", async () => {
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
