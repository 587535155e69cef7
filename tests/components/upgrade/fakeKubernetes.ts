// An API server that keeps objects: each is read, written, created and deleted by its path, and followed with its collection.
import type { IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import type { KubernetesObject } from "../../../components/kubernetes/objects.ts";
import { ApiServer } from "../kubernetes/apiServer.ts";

type Stored = KubernetesObject & { readonly spec?: object; readonly status?: object };

export class FakeKubernetes {
  readonly server: ApiServer;
  /** By their paths. */
  readonly objects = new Map<string, Stored>();
  /** Collections that do not exist. */
  readonly missing = new Set<string>();
  /** Every write: "PATCH /api/v1/nodes/w-1". */
  readonly writes: string[] = [];
  /** Why an eviction is refused, by the pod's name. */
  readonly refused = new Map<string, string>();
  private version = 1;
  private readonly watches = new Map<ServerResponse, string>();

  constructor(server = new ApiServer()) {
    this.server = server;
    server.answer = (request, response) => void this.answer(request, response);
  }

  put(path: string, object: object): void {
    this.version += 1;
    const { metadata = {} } = object as Partial<Stored>;
    const name = path.split("/").at(-1) ?? "";
    this.objects.set(path, {
      ...object,
      metadata: { name, ...metadata, resourceVersion: `${this.version}` },
    } as Stored);
    this.tell("MODIFIED", path);
  }

  remove(path: string): void {
    this.version += 1;
    const was = this.objects.get(path);
    if (was === undefined) return;
    this.tell("DELETED", path);
    this.objects.delete(path);
  }

  private tell(type: string, path: string): void {
    const object = this.objects.get(path);
    for (const [response, collection] of this.watches) {
      if (isIn(path, collection)) response.write(`${JSON.stringify({ type, object })}\n`);
    }
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? "", "https://test");
    const method = request.method ?? "GET";
    const fail = (status: number, message: string) => response.writeHead(status).end(JSON.stringify({ message }));
    if (method !== "GET") this.writes.push(`${method} ${pathname}`);
    const found = this.objects.get(pathname);
    if (pathname === "/readyz") return void response.end("ok");
    if (this.missing.has(pathname)) return void fail(404, "the server could not find the requested resource");
    if (searchParams.has("watch")) {
      this.watches.set(response, pathname);
      response.on("close", () => this.watches.delete(response));
      return response.flushHeaders();
    }
    if (method === "GET" && found !== undefined) return void response.end(JSON.stringify(found));
    if (method === "GET" && isCollection(pathname)) {
      const node = /spec\.nodeName=([^&]*)/.exec(searchParams.get("fieldSelector") ?? "")?.[1];
      const items = [...this.objects].flatMap(([path, object]) => {
        const isOn = node === undefined || (object.spec as { nodeName?: string } | undefined)?.nodeName === node;
        return isIn(path, pathname) && isOn ? [object] : [];
      });
      return void response.end(JSON.stringify({ metadata: { resourceVersion: `${this.version}` }, items }));
    }
    const body = JSON.parse((await text(request)) || "{}");
    if (method === "POST" && pathname.endsWith("/eviction")) {
      const pod = pathname.replace(/\/eviction$/, "");
      const why = this.refused.get(pod.split("/").at(-1) ?? "");
      if (why !== undefined) return void fail(429, why);
      this.remove(pod);
      return void response.end("{}");
    }
    if (method === "POST") {
      const path = `${pathname}/${body.metadata.name}`;
      if (this.objects.has(path)) return void fail(409, "already exists");
      this.put(path, body);
      return void response.end("{}");
    }
    if (found === undefined) return void fail(404, `${pathname} not found`);
    if (method === "DELETE") {
      this.remove(pathname);
      return void response.end("{}");
    }
    const wanted = body.metadata?.resourceVersion;
    if (wanted !== undefined && wanted !== found.metadata.resourceVersion)
      return void fail(409, "the object has been modified");
    this.put(pathname, merged(found, body) as object);
    return void response.end("{}");
  }
}

function isCollection(path: string): boolean {
  return !/\/(nodes|leases)\/[^/]+$/.test(path);
}

/** Objects of all namespaces are in the collection without one. */
function isIn(path: string, collection: string): boolean {
  const plain = path.replace(/\/namespaces\/[^/]+(?=\/)/, "");
  return [path, plain].some((one) => one.slice(0, one.lastIndexOf("/")) === collection);
}

/** As a JSON merge patch. */
function merged(value: unknown, patch: unknown): unknown {
  if (typeof patch !== "object" || patch === null) return patch;
  const result: Record<string, unknown> = typeof value === "object" && value !== null ? { ...value } : {};
  for (const [key, change] of Object.entries(patch)) {
    if (change === null) delete result[key];
    else result[key] = merged(result[key], change);
  }
  return result;
}
