// The plugins' network proxy, for an API whose calls are encrypted end to end: it forwards connections unchanged, and closes one on which a call gets no
// answer. docs/decisions/api-proxy.md
import { createServer, type IncomingMessage, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import type { Duplex } from "node:stream";
import type { Clock } from "../../components/waiting/clock.ts";
import { SlowCalls, type TrackedCall } from "./slowCalls.ts";

/** Seconds until a call counts as unanswered. Proxmox' own front end stops waiting for another host after 30 s. */
const answerSeconds = 45;

export interface TunnelOptions {
  /** The API's name in messages: "Proxmox". */
  readonly title: string;
  readonly clock: Clock;
  readonly report: (text: string) => void;
}

export class Tunnel {
  /** The address that the plugin gets as its network's proxy. */
  readonly url: string;
  private readonly server: Server;
  private readonly sockets = new Set<Duplex>();
  private readonly slow: SlowCalls;
  private readonly clock: Clock;

  private constructor(server: Server, options: TunnelOptions) {
    this.server = server;
    this.clock = options.clock;
    this.slow = new SlowCalls(options.title, options);
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  static async start(options: TunnelOptions): Promise<Tunnel> {
    const server = createServer((_, response) => void response.writeHead(405).end());
    await new Promise<void>((done, fail) => {
      server.once("error", fail).listen(0, "127.0.0.1", done);
    });
    const tunnel = new Tunnel(server, options);
    server.on("connect", (request, client, head) => tunnel.carry(request, client, head));
    return tunnel;
  }

  close(): void {
    this.server.close();
    for (const socket of this.sockets) socket.destroy();
  }

  private carry({ url = "" }: IncomingMessage, client: Duplex, head: Buffer): void {
    const { hostname, port } = new URL(`https://${url}`);
    const api = connect({ host: hostname.replace(/^\[|\]$/g, ""), port: Number(port || 443) });
    for (const socket of [client, api]) this.sockets.add(socket);
    const ends = () => {
      silence.end(false);
      for (const socket of [client, api]) {
        socket.destroy();
        this.sockets.delete(socket);
      }
    };
    const silence = new Silence(this.slow, this.clock, ends);
    // The plugin reports which of them failed, and why.
    api.once("error", ({ message }) => void (api.readyState !== "open" && client.write(refusal(message))));
    for (const socket of [client, api]) socket.on("error", ends).on("close", ends);

    silence.begin();
    api.once("connect", () => {
      silence.end(true);
      client.write("HTTP/1.1 200 Connection established\r\n\r\n");
      api.write(head);
      client.on("data", () => silence.begin()).pipe(api);
      api.on("data", () => silence.end(true)).pipe(client);
    });
  }
}

/** The plugin's own error contains the status line. */
function refusal(reason: string): string {
  return `HTTP/1.1 502 ${reason.replace(/[^ -~]/g, " ")}\r\n\r\n`;
}

/** How long one side has waited for the other since it last sent something. */
class Silence {
  private readonly slow: SlowCalls;
  private readonly clock: Clock;
  private readonly tooLong: () => void;
  private call: TrackedCall | undefined;
  private cancel: (() => void) | undefined;

  constructor(slow: SlowCalls, clock: Clock, tooLong: () => void) {
    this.slow = slow;
    this.clock = clock;
    this.tooLong = tooLong;
  }

  begin(): void {
    this.end(false);
    this.call = this.slow.begin("a call");
    this.cancel = this.clock.after(answerSeconds * 1000, this.tooLong);
  }

  end(isAnswered: boolean): void {
    this.call?.end(isAnswered);
    this.call = undefined;
    this.cancel?.();
  }
}
