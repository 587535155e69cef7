// An object store with one bucket, in memory. Signatures are verified by a real one, in the lab.
import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import type { S3Place } from "../../../components/api/s3Api.ts";

export class ObjectStore {
  readonly objects = new Map<string, Buffer>();
  /** Method and path of every call. */
  readonly calls: string[] = [];
  /** Answers for the next calls, in place of its own. */
  readonly failures: { readonly status: number; readonly body?: string }[] = [];
  private readonly server = createServer((request, response) => void this.answer(request, response));

  async start(): Promise<void> {
    await new Promise<void>((done) => this.server.listen(0, "127.0.0.1", done));
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((done) => this.server.close(done));
  }

  get place(): S3Place {
    const { port } = this.server.address() as AddressInfo;
    return { endpoint: `http://127.0.0.1:${port}`, region: "fsn1", bucket: "backups", pathStyle: true };
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "", "http://store");
    const body = await buffer(request);
    this.calls.push(`${request.method} ${url.pathname}`);
    const failure = this.failures.shift();
    if (failure !== undefined) return void response.writeHead(failure.status).end(failure.body);
    const refused = this.refusal(request, body);
    if (refused !== undefined) return void response.writeHead(403).end(problem(refused, "no"));
    const key = decodeURIComponent(url.pathname.replace("/backups/", ""));
    if (request.method === "GET" && key === "") return void response.end(this.list(url.searchParams));
    if (request.method === "PUT") this.objects.set(key, body);
    if (request.method === "DELETE") this.objects.delete(key);
    const found = this.objects.get(key);
    if (request.method === "GET" && found === undefined) {
      return void response.writeHead(404).end(problem("NoSuchKey", "The key <does> not exist"));
    }
    response.writeHead(request.method === "DELETE" ? 204 : 200).end(request.method === "GET" ? found : "");
  }

  private refusal(request: IncomingMessage, body: Buffer): string | undefined {
    const { authorization = "", "x-amz-content-sha256": hash, "content-length": length } = request.headers;
    const credential =
      /^AWS4-HMAC-SHA256 Credential=the-key\/\d{8}\/fsn1\/s3\/aws4_request, SignedHeaders=\S+, Signature=[0-9a-f]{64}$/;
    if (!credential.test(authorization)) return "AccessDenied";
    if (hash !== createHash("sha256").update(body).digest("hex")) return "XAmzContentSHA256Mismatch";
    if (request.method === "PUT" && length !== `${body.length}`) return "MissingContentLength";
    return undefined;
  }

  /** Two keys at a time. */
  private list(query: URLSearchParams): string {
    const from = query.get("continuation-token") ?? "";
    const keys = [...this.objects.keys()].filter((key) => key.startsWith(query.get("prefix") ?? "") && key > from);
    const page = keys.toSorted().slice(0, 2);
    const isTruncated = keys.length > page.length;
    const contents = page.map((key) => {
      const text = key.replaceAll("&", "&amp;");
      return `<Contents><Key>${text}</Key><Size>${this.objects.get(key)?.length}</Size></Contents>`;
    });
    const next = isTruncated ? `<NextContinuationToken>${page.at(-1)}</NextContinuationToken>` : "";
    return `<ListBucketResult><IsTruncated>${isTruncated}</IsTruncated>${contents.join("")}${next}</ListBucketResult>`;
  }
}

export function problem(code: string, message: string): string {
  return `<Error><Code>${code}</Code><Message>${message.replaceAll("<", "&lt;").replaceAll(">", "&#62;")}</Message></Error>`;
}
