import { createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { afterEach, describe, expect, test } from "@jest/globals";
import { whoAnswers } from "../../../../components/gates/talos/whoAnswers.ts";
import { systemClock } from "../../../../components/waiting/clock.ts";
import { certificates, type ServerCertificate } from "../../kubernetes/certificates.ts";

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

describe("S4.4 what answers at an address", () => {
  test("is this cluster if its CA signed the certificate for that address", async () => {
    expect(await ask(await tls(certificates.server))).toEqual({ kind: "ours" });
  });

  test("is another machine if another CA did, and both are named", async () => {
    expect(await ask(await tls(certificates.stranger))).toEqual({
      kind: "foreign",
      why: expect.stringMatching(/^shows a foreign certificate: subject 'CN=.+', issuer 'CN=.+'$/),
    });
  });

  test("is this cluster under another name if the certificate is for another address", async () => {
    expect(await ask(await tls(certificates.server), { host: "localhost" })).toEqual({
      ...{ kind: "invalid", isName: true },
      why: "ERR_TLS_CERT_ALTNAME_INVALID",
    });
  });

  test("is another machine if it does not use TLS", async () => {
    const port = await listen(createServer((socket) => void socket.end("HTTP/1.1 200 OK\r\n\r\n")));
    expect(await ask(port)).toEqual({ kind: "foreign", why: "answers, but not with TLS" });
  });

  test("is nothing if the connection is refused", async () => {
    const port = await tls(certificates.server);
    await new Promise((done) => server?.close(done));
    expect(await ask(port)).toEqual({ kind: "none", why: "refuses the connection" });
  });

  test("is nothing if the connection is accepted and nothing is sent", async () => {
    const port = await listen(createServer());
    expect(await ask(port, { patience: 100 })).toEqual({
      kind: "none",
      why: "accepts the connection but sends nothing within 0.1 s",
    });
  });

  test("is not waited for after an interruption", async () => {
    const stop = new AbortController();
    const asked = ask(await listen(createServer()), { patience: 60_000, signal: stop.signal });
    stop.abort();
    expect(await asked).toEqual({ kind: "none", why: "the wait has ended" });
  });
});
