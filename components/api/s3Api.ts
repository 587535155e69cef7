// A bucket of an object store that speaks S3: AWS, Hetzner Object Storage, MinIO and others.
import { openAsBlob } from "node:fs";
import { AwsV4Signer } from "aws4fetch";
import { ApiError } from "./apiError.ts";

export interface S3Place {
  /** Such as `https://s3.eu-central-1.amazonaws.com`. */
  readonly endpoint: string;
  readonly region: string;
  readonly bucket: string;
  /** Whether the bucket is part of the path, and not of the host name. */
  readonly pathStyle: boolean;
}

export interface S3Credentials {
  readonly accessKey: string;
  readonly secretKey: string;
}

export interface S3Object {
  readonly key: string;
  readonly size: number;
}

/** Seconds for a call without a large body. */
const callSeconds = 30;
/** Bytes per second at which a body is transferred at least. */
const slowestRate = 128 * 1024;
/** What `UNSIGNED-PAYLOAD` would leave to chance. */
const hashOfNothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

interface S3Request {
  readonly method: "GET" | "PUT" | "DELETE";
  readonly key?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Blob;
  /** Of the body, in hexadecimal. */
  readonly sha256?: string;
  readonly seconds?: number;
}

/** One attempt for each call; retries are up to the caller. */
export class S3Bucket {
  readonly place: S3Place;
  private readonly credentials: S3Credentials;

  constructor(place: S3Place, credentials: S3Credentials) {
    this.place = place;
    this.credentials = credentials;
  }

  /** All objects whose keys begin with the prefix. */
  async list(prefix: string): Promise<readonly S3Object[]> {
    const found: S3Object[] = [];
    for (let token: string | undefined = ""; token !== undefined; ) {
      const query = { "list-type": "2", prefix, ...(token !== "" && { "continuation-token": token }) };
      const page: string = await (await this.call({ method: "GET", query })).text();
      const contents = elements(page, "Contents");
      found.push(
        ...contents.map((one) => ({ key: element(one, "Key") ?? "", size: Number(element(one, "Size") ?? 0) })),
      );
      token = element(page, "IsTruncated") === "true" ? element(page, "NextContinuationToken") : undefined;
    }
    return found;
  }

  /** Undefined if there is no such object. */
  async get(key: string): Promise<AsyncIterable<Uint8Array> | undefined> {
    try {
      const { body } = await this.call({ method: "GET", key, seconds: callSeconds * 120 });
      return body === null ? undefined : (body as unknown as AsyncIterable<Uint8Array>);
    } catch (error) {
      if (error instanceof ApiError && error.status === 404 && !/NoSuchBucket/.test(error.message)) return undefined;
      throw error;
    }
  }

  /** The store compares the hash: an object is what was sent, or does not exist. */
  async put(key: string, file: string, { size, sha256 }: { readonly size: number; readonly sha256: string }) {
    const seconds = callSeconds + size / slowestRate;
    const answer = await this.call({ method: "PUT", key, body: await openAsBlob(file), sha256, seconds });
    await answer.arrayBuffer();
  }

  async remove(key: string): Promise<void> {
    await (await this.call({ method: "DELETE", key })).arrayBuffer();
  }

  private async call({ method, key = "", query = {}, body, sha256, seconds = callSeconds }: S3Request) {
    const { region } = this.place;
    const url = this.urlOf(key);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    const signer = new AwsV4Signer({
      ...{ method, url: `${url}`, service: "s3", region },
      ...{ accessKeyId: this.credentials.accessKey, secretAccessKey: this.credentials.secretKey },
      headers: { "x-amz-content-sha256": sha256 ?? hashOfNothing },
    });
    const signed = await signer.sign();
    const signal = AbortSignal.timeout(Math.ceil(seconds * 1000));
    const init = { method, headers: signed.headers, signal, ...(body !== undefined && { body }) };
    const response = await fetch(signed.url, init).catch((error: Error & { readonly cause?: Error }) => {
      const words = error.cause?.message || (error.cause as NodeJS.ErrnoException | undefined)?.code || error.message;
      const reason = signal.aborted ? `nothing within ${Math.round(seconds)} s` : words;
      throw new ApiError(`${this.place.endpoint} does not answer: ${reason}`);
    });
    if (response.ok) return response;
    const text = await response.text().catch(() => "");
    const words = [element(text, "Code"), element(text, "Message")].filter((one) => one !== undefined).join(": ");
    const { endpoint, bucket } = this.place;
    throw new ApiError(
      `${endpoint}, bucket ${bucket}, answers ${response.status}${words === "" ? "" : `: ${words}`}`,
      response.status,
    );
  }

  private urlOf(key: string): URL {
    const { endpoint, bucket, pathStyle } = this.place;
    const url = new URL(endpoint);
    if (!pathStyle) url.hostname = `${bucket}.${url.hostname}`;
    const path = [...(pathStyle ? [bucket] : []), ...key.split("/")].map(encodeURIComponent).join("/");
    url.pathname = `${url.pathname.replace(/\/$/, "")}/${path}`;
    return url;
  }
}

/** The texts of all elements with this name. The answers have no element inside another of the same name. */
function elements(xml: string, name: string): readonly string[] {
  return [...xml.matchAll(new RegExp(`<${name}>(.*?)</${name}>`, "gs"))].map(([, text = ""]) => text);
}

function element(xml: string, name: string): string | undefined {
  const [text] = elements(xml, name);
  return text?.replace(/&(lt|gt|quot|apos|amp|#\d+|#x[0-9a-f]+);/gi, (_, entity: string) => decoded(entity));
}

function decoded(entity: string): string {
  const named: Readonly<Record<string, string>> = { lt: "<", gt: ">", quot: '"', apos: "'", amp: "&" };
  if (!entity.startsWith("#")) return named[entity.toLowerCase()] ?? "";
  const code = /^#x/i.test(entity) ? Number.parseInt(entity.slice(2), 16) : Number.parseInt(entity.slice(1), 10);
  return String.fromCodePoint(code);
}
