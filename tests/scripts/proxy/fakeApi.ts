// The API of a cloud that answers each request as a test says.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export type Behaviour = (request: IncomingMessage, response: ServerResponse) => void;

export interface Received {
  readonly line: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

/** An answer with a body of JSON. */
export const answers =
  (status: number, body: object, headers: Readonly<Record<string, string>> = {}): Behaviour =>
  (_, response) =>
    void response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));

/** Closes the connection instead of answering. */
export const cuts: Behaviour = (request) => void request.socket.destroy();

/** Announces more than it sends, and closes the connection. */
export const cutsInTheMiddle: Behaviour = (request, response) => {
  response.writeHead(200, { "content-length": "100" }).write("{");
  setImmediate(() => request.socket.destroy());
};

export const neverAnswers: Behaviour = () => undefined;

export class FakeApi {
  readonly received: Received[] = [];
  private behaviours: Behaviour[] = [];
  private readonly server: Server;
  private port = 0;

  constructor() {
    this.server = createServer((request, response) => void this.serve(request, response));
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/v1`;
  }

  async start(): Promise<void> {
    await new Promise<void>((done) => this.server.listen(this.port, "127.0.0.1", done));
    this.port = (this.server.address() as AddressInfo).port;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((done) => this.server.close(done));
  }

  /** One after the other, the last for all further requests. */
  behave(...behaviours: readonly Behaviour[]): void {
    this.behaviours = [...behaviours];
    this.received.length = 0;
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = Buffer.concat(await request.toArray()).toString("utf8");
    this.received.push({ line: `${request.method} ${request.url}`, headers: request.headers, body });
    const [behaviour = neverAnswers] = this.behaviours;
    if (this.behaviours.length > 1) this.behaviours.shift();
    behaviour(request, response);
  }
}
