import type { IncomingMessage, ServerResponse } from "node:http";
import { json } from "node:stream/consumers";
import type { KubernetesObject } from "../../../components/kubernetes/objects.ts";
import type { ApiServer } from "./apiServer.ts";

interface Change {
  readonly version: number;
  readonly collection: string;
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly object: KubernetesObject;
}

interface Watcher {
  readonly url: URL;
  readonly response: ServerResponse;
}

/** Objects by the path of their list, as an API server keeps them: read, watched, created, patched and deleted. */
export class ObjectsApi {
  /** The status and message with which a call fails. */
  refuse: (method: string, path: string) => readonly [status: number, message: string] | undefined = () => undefined;
  /** The reaction of controllers to a change: another change, at once. */
  react: (change: Pick<Change, "type" | "collection" | "object">) => void = () => undefined;
  /** Answers requests for other paths than objects. */
  other: (path: string, response: ServerResponse) => boolean = () => false;
  private readonly changes: Change[] = [];
  private readonly objects = new Map<string, KubernetesObject>();
  private readonly watchers = new Set<Watcher>();

  constructor(api: ApiServer) {
    api.answer = (request, response) => void this.answer(request, response);
  }

  get(path: string): KubernetesObject | undefined {
    return this.objects.get(path);
  }

  /** All paths of objects, sorted. */
  get paths(): readonly string[] {
    return [...this.objects.keys()].sort();
  }

  put(collection: string, object: KubernetesObject): void {
    const path = `${collection}/${object.metadata.name}`;
    const before = this.objects.get(path);
    const uid = before?.metadata.uid ?? object.metadata.uid ?? `uid-${this.changes.length}`;
    const made = { ...object, metadata: { ...object.metadata, uid } };
    this.objects.set(path, made);
    this.tell(before === undefined ? "ADDED" : "MODIFIED", collection, made);
  }

  remove(path: string): void {
    const object = this.objects.get(path);
    if (object === undefined || !this.objects.delete(path)) return;
    this.tell("DELETED", collectionOf(path), object);
  }

  private tell(type: Change["type"], collection: string, object: KubernetesObject): void {
    const change = { version: this.changes.length + 1, type, collection, object };
    this.changes.push(change);
    for (const watcher of this.watchers) this.send(watcher, change);
    this.react(change);
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "", "https://test");
    const { method = "GET" } = request;
    const path = url.pathname;
    const refused = this.refuse(method, path);
    const end = (status: number, body: unknown) => response.writeHead(status).end(JSON.stringify(body));
    if (refused !== undefined) return void end(refused[0], { message: refused[1] });
    if (this.other(path, response)) return;
    const object = this.objects.get(path);
    if (method === "POST") {
      const made = (await json(request)) as KubernetesObject;
      if (this.objects.has(`${path}/${made.metadata.name}`)) return void end(409, { message: "already exists" });
      this.put(path, made);
      return void end(201, this.objects.get(`${path}/${made.metadata.name}`));
    }
    if (method !== "GET" || object !== undefined) {
      if (object === undefined) return void end(404, { message: "not found" });
      if (method === "PATCH") this.put(collectionOf(path), merged(object, await json(request)) as KubernetesObject);
      if (method === "DELETE") this.remove(path);
      return void end(200, object);
    }
    if (url.searchParams.has("watch")) return this.watch({ url, response });
    if (/\/[^/]+s$/.test(path)) {
      const items = [...this.objects].filter(([at, one]) => isIn(url, collectionOf(at), one)).map(([, one]) => one);
      return void end(200, { metadata: { resourceVersion: String(this.changes.length) }, items });
    }
    end(404, { message: "not found" });
  }

  private watch(watcher: Watcher): void {
    const { url, response } = watcher;
    this.watchers.add(watcher);
    response.on("close", () => this.watchers.delete(watcher));
    response.flushHeaders();
    const since = Number(url.searchParams.get("resourceVersion"));
    for (const change of this.changes) if (change.version > since) this.send(watcher, change);
  }

  private send({ url, response }: Watcher, { version, type, collection, object }: Change): void {
    if (!isIn(url, collection, object)) return;
    const metadata = { ...object.metadata, resourceVersion: String(version) };
    response.write(`${JSON.stringify({ type, object: { ...object, metadata } })}\n`);
  }
}

/** Whether a list with its selector has the object. */
function isIn(url: URL, collection: string, { metadata }: KubernetesObject): boolean {
  const [, name] = /^metadata\.name=(.*)$/.exec(url.searchParams.get("fieldSelector") ?? "") ?? [];
  return collection === url.pathname && (name === undefined || name === metadata.name);
}

function collectionOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/"));
}

function merged(value: unknown, patch: unknown): unknown {
  if (typeof patch !== "object" || patch === null || typeof value !== "object" || value === null) return patch;
  const members = Object.entries(patch).map(([key, one]) => [
    key,
    merged((value as Record<string, unknown>)[key], one),
  ]);
  return { ...value, ...Object.fromEntries(members) };
}
