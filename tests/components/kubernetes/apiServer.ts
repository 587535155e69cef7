import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { stringify } from "yaml";
import type { KubernetesObject } from "../../../components/kubernetes/objects.ts";
import { certificates, type ServerCertificate } from "./certificates.ts";

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** An API server with one list at every path, which a test can change. */
export class ApiServer {
  /** Every request, in order: `GET /path`, without the query of a watch. */
  readonly asked: string[] = [];
  /** How many connections were made. */
  connections = 0;
  /** Answers instead of the list, if it is set. */
  answer: Answer | undefined;
  /** Answers requests that would change something, if it is set. */
  change: Answer | undefined;
  private version = 1;
  private readonly items = new Map<string, KubernetesObject>();
  private readonly changes: { readonly version: number; readonly line: string }[] = [];
  private readonly watches = new Set<ServerResponse>();
  private readonly server: Server;
  private port = 0;

  constructor(certificate: ServerCertificate = certificates.server) {
    this.server = createServer(certificate, (request, response) => this.serve(request, response));
    this.server.on("secureConnection", () => {
      this.connections += 1;
    });
  }

  async start(): Promise<void> {
    await new Promise<void>((done) => this.server.listen(this.port, "127.0.0.1", done));
    this.port = (this.server.address() as AddressInfo).port;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((done) => this.server.close(done));
  }

  kubeconfig(host = "127.0.0.1"): string {
    const authority = Buffer.from(certificates.ca).toString("base64");
    const server = `https://${host}:${this.port}`;
    return stringify({
      apiVersion: "v1",
      kind: "Config",
      clusters: [{ name: "test", cluster: { server, "certificate-authority-data": authority } }],
      users: [{ name: "test", user: { token: "test" } }],
      contexts: [{ name: "test", context: { cluster: "test", user: "test" } }],
      "current-context": "test",
    });
  }

  put(name: string): void {
    const type = this.items.has(name) ? "MODIFIED" : "ADDED";
    this.version += 1;
    this.items.set(name, { metadata: { name } });
    this.tell(type, name);
  }

  remove(name: string): void {
    this.items.delete(name);
    this.version += 1;
    this.tell("DELETED", name);
  }

  /** As a server does when the position is too old for it. */
  forget(): void {
    this.endWatches(`${JSON.stringify({ type: "ERROR", object: { code: 410 } })}\n`);
  }

  /** As a server does after a while. */
  endWatches(lastWords = ""): void {
    for (const watch of this.watches) watch.end(lastWords);
    this.watches.clear();
  }

  breakWatches(): void {
    for (const watch of this.watches) watch.destroy();
    this.watches.clear();
  }

  private tell(type: string, name: string): void {
    const object = { metadata: { name, resourceVersion: String(this.version) } };
    const line = `${JSON.stringify({ type, object })}\n`;
    this.changes.push({ version: this.version, line });
    for (const watch of this.watches) watch.write(line);
  }

  private serve(request: IncomingMessage, response: ServerResponse): void {
    const url = new URL(request.url ?? "", "https://test");
    const isWatch = url.searchParams.has("watch");
    this.asked.push(`${isWatch ? "WATCH" : request.method} ${url.pathname}`);
    if (this.answer !== undefined) this.answer(request, response);
    else if (request.method !== "GET" && this.change !== undefined) this.change(request, response);
    else if (isWatch) this.watch(url, response);
    else {
      const metadata = { resourceVersion: String(this.version) };
      response.end(JSON.stringify({ metadata, items: [...this.items.values()] }));
    }
  }

  private watch(url: URL, response: ServerResponse): void {
    const since = Number(url.searchParams.get("resourceVersion"));
    this.watches.add(response);
    response.on("close", () => this.watches.delete(response));
    response.flushHeaders();
    for (const { version, line } of this.changes) if (version > since) response.write(line);
  }
}
