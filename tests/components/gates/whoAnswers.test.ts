import { createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { afterEach, describe, expect, test } from "@jest/globals";
import { systemClock } from "../../../components/gates/clock.ts";
import { whoAnswers } from "../../../components/gates/whoAnswers.ts";
import { certificates, type ServerCertificate } from "../kubernetes/certificates.ts";

let server: Server | undefined;
const open = new Set<Socket>();
afterEach(async () => {
  for (const socket of open) socket.destroy();
  await new Promise((done) => (server === undefined ? done(undefined) : server.close(done)));
  server = undefined;
});

async function listen(made: Server): Promise<number> {
  server = made;
  made.on("connection", (socket) => open.add(socket));
  made.on("tlsClientError", () => undefined);
  await new Promise<void>((done) => made.listen(0, "127.0.0.1", done));
  const address = made.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

const tls = (certificate: ServerCertificate) => listen(createTlsServer(certificate, (socket) => open.add(socket)));
const ask = (port: number, { host = "127.0.0.1", patience = 2000, signal = new AbortController().signal } = {}) =>
  whoAnswers({ host, port, ca: certificates.ca }, patience, systemClock, signal);

describe("S4.4 who answers at an address", () => {
  test("is us where our authority signed the certificate for that place", async () => {
    expect(await ask(await tls(certificates.server))).toEqual({ kind: "ours" });
  });

  test("is somebody else where another one did: both are named", async () => {
    expect(await ask(await tls(certificates.stranger))).toEqual({
      kind: "foreign",
      why: expect.stringMatching(/^shows a certificate of others: it is of 'CN=.+', and 'CN=.+' signed it$/),
    });
  });

  test("is one of us under another name where the certificate is for another place", async () => {
    expect(await ask(await tls(certificates.server), { host: "localhost" })).toEqual({
      ...{ kind: "invalid", isName: true },
      why: "ERR_TLS_CERT_ALTNAME_INVALID",
    });
  });

  test("is somebody else where that is no TLS", async () => {
    const port = await listen(createServer((socket) => void socket.end("HTTP/1.1 200 OK\r\n\r\n")));
    expect(await ask(port)).toEqual({ kind: "foreign", why: "answers, but not with TLS" });
  });

  test("is nobody where the connection is refused", async () => {
    const port = await tls(certificates.server);
    await new Promise((done) => server?.close(done));
    expect(await ask(port)).toEqual({ kind: "none", why: "refuses the connection" });
  });

  test("is nobody where the connection is taken and nothing is said", async () => {
    const port = await listen(createServer());
    expect(await ask(port, { patience: 100 })).toEqual({
      kind: "none",
      why: "takes the connection and says nothing within 0.1 s",
    });
  });

  test("is not waited for when nobody wants to know any more", async () => {
    const stop = new AbortController();
    const asked = ask(await listen(createServer()), { patience: 60_000, signal: stop.signal });
    stop.abort();
    expect(await asked).toEqual({ kind: "none", why: "nobody waits for it any more" });
  });
});
