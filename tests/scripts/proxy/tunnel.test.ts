import { request as httpRequest } from "node:http";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { Tunnel } from "../../../scripts/proxy/tunnel.ts";
import { judge } from "../../../scripts/resume/transient.ts";
import { SteppedClock } from "../../components/gates/steppedClock.ts";
import { until } from "../support/child.ts";

let clock: SteppedClock;
let tunnel: Tunnel;
let said: string[];
let api: Server;
/** What the API does with what it gets. */
let behave: (socket: Socket, text: string) => void;
beforeEach(async () => {
  clock = new SteppedClock();
  said = [];
  tunnel = await Tunnel.start({ title: "Proxmox", clock, report: (text) => void said.push(text) });
  behave = (socket, text) => void socket.write(`answer to ${text}`);
  api = createServer((socket) => {
    socket.setEncoding("utf8").on("error", () => undefined);
    socket.on("data", (text: string) => behave(socket, text));
  });
  await new Promise<void>((done) => api.listen(0, "127.0.0.1", done));
});
afterEach(async () => {
  tunnel.close();
  await new Promise((done) => api.close(done));
});

/** A connection of the plugin to the API, which it makes through the tunnel. */
class Connection {
  heard = "";
  isClosed = false;
  private readonly socket: Socket;

  constructor(socket: Socket) {
    this.socket = socket;
    socket.setEncoding("utf8").on("data", (text: string) => {
      this.heard += text;
    });
    socket.on("close", () => {
      this.isClosed = true;
    });
  }

  static open(port: number, host = "127.0.0.1"): Promise<Connection> {
    return new Promise((done, fail) => {
      const asked = httpRequest(tunnel.url, { method: "CONNECT", path: `${host}:${port}`, agent: false });
      asked.on("connect", ({ statusCode, statusMessage }, socket) =>
        statusCode === 200 ? done(new Connection(socket)) : fail(new Error(statusMessage)),
      );
      asked.on("error", fail).end();
    });
  }

  says(text: string): void {
    this.socket.write(text);
  }

  close(): void {
    this.socket.destroy();
  }
}

const port = () => (api.address() as AddressInfo).port;

describe("S5.2 a connection through the tunnel", () => {
  test("carries what both sides send, and is not timed while it is idle", async () => {
    const connection = await Connection.open(port());
    connection.says("a call");
    await until(() => connection.heard === "answer to a call", "the answer");
    await until(() => clock.pending === 0, "the end of the timing");
    await clock.advance(600_000);
    expect({ isClosed: connection.isClosed, said }).toEqual({ isClosed: false, said: [] });
    connection.close();
  });

  test("is closed when a call on it gets no answer for 45 s, which is reported from 5 s on", async () => {
    behave = () => undefined;
    const connection = await Connection.open(port());
    connection.says("a call");
    await until(() => clock.pending === 2, "the call to be timed");
    await clock.advance(44_999);
    expect(connection.isClosed).toBe(false);
    await clock.advance(1);
    await until(() => connection.isClosed, "the end of the connection");
    expect(said).toEqual([5, 10, 20, 40].map((s) => `Proxmox has not answered a call for ${s} s`));
    expect(clock.pending).toBe(0);
  });

  test("is not closed while an answer comes slowly", async () => {
    let socket: Socket | undefined;
    behave = (own) => {
      socket = own;
    };
    const connection = await Connection.open(port());
    connection.says("a call");
    await until(() => socket !== undefined, "the call");
    await clock.advance(40_000);
    socket?.write("half");
    await until(() => connection.heard === "half", "half of it");
    await clock.advance(40_000);
    expect(connection.isClosed).toBe(false);
    connection.close();
  });

  test("ends on both sides when either ends it", async () => {
    const connected = new Promise<Socket>((done) => api.once("connection", done));
    const connection = await Connection.open(port());
    const socket = await connected;
    connection.close();
    await until(() => socket.destroyed, "the end at the API");
    expect(clock.pending).toBe(0);
  });

  test.each([
    ["a refused connection is transient", "127.0.0.1", "transient", /^connect ECONNREFUSED 127\.0\.0\.1:9$/],
    ["a name that does not exist is not", "pve.invalid", "final", /^getaddrinfo ENOTFOUND pve\.invalid$/],
  ])("is refused with the reason, by which 'up' decides: %s", async (_, host, kind, reason) => {
    const error: Error = await Connection.open(9, host).then(
      () => new Error("was opened"),
      (refused) => refused,
    );
    expect(error.message).toMatch(reason);
    const words = `failed to perform HTTP GET request (path: version) - Reason: Get "https://${host}:9": ${error.message}`;
    expect(judge({ type: "proxmoxve:index/vmLegacy:VmLegacy", name: "w-1", reason: words })).toMatchObject({ kind });
  });
});
