// Snapshots as the Hetzner API tells of them. One question with a deadline; how often it is asked is the caller's business.
import { unanswered } from "../errors/unanswered.ts";
import { labelSelector } from "./snapshotLabels.ts";

export interface SnapshotQuery {
  /** All of them, each with its value. */
  readonly labels: Readonly<Record<string, string>>;
  readonly architecture: "amd64" | "arm64";
}

export interface Snapshot {
  readonly id: string;
  readonly description: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** The API as far as it is used: where it is, what it wants to see, and who carries the question there. */
export interface HetznerApi {
  /** With the version, such as `https://api.hetzner.cloud/v1`. */
  readonly endpoint: string;
  readonly token: string;
  readonly fetch: typeof fetch;
  /** Seconds until a question counts as not answered. */
  readonly deadline: number;
}

/** Where HCLOUD_ENDPOINT says, as the plugin has it. */
export function hetznerApi(token: string): HetznerApi {
  const endpoint = process.env.HCLOUD_ENDPOINT || "https://api.hetzner.cloud/v1";
  return { endpoint: endpoint.replace(/\/$/, ""), token, fetch, deadline: 10 };
}

/** The API did not answer, or not with what was asked for. */
export class HetznerApiError extends Error {
  override readonly name = "HetznerApiError";
  /** Whether another try may succeed. */
  readonly mayPass: boolean;

  constructor(message: string, mayPass: boolean) {
    super(message);
    this.mayPass = mayPass;
  }
}

/** What Hetzner calls them. */
const architectures = { amd64: "x86", arm64: "arm" } as const;

/** The newest snapshot that has all the labels and is whole. */
export async function newestSnapshot(api: HetznerApi, query: SnapshotQuery): Promise<Snapshot | undefined> {
  const [newest] = await snapshots(api, {
    label_selector: labelSelector(query.labels),
    architecture: architectures[query.architecture],
    status: "available",
    per_page: "1",
  });
  return newest;
}

/** A few of the newest snapshots, whatever their labels: for a person who looks for the one that is missing. */
export function someSnapshots(api: HetznerApi): Promise<readonly Snapshot[]> {
  return snapshots(api, { per_page: "5" });
}

async function snapshots(api: HetznerApi, query: Readonly<Record<string, string>>): Promise<readonly Snapshot[]> {
  const search = new URLSearchParams({ type: "snapshot", sort: "created:desc", ...query });
  const { images } = (await ask(api, `/images?${search}`)) as { images: readonly ImageView[] };
  return images.map(({ id, description, labels }) => ({ id: String(id), description, labels }));
}

interface ImageView {
  readonly id: number;
  readonly description: string;
  readonly labels: Readonly<Record<string, string>>;
}

async function ask({ endpoint, token, fetch, deadline }: HetznerApi, path: string): Promise<unknown> {
  const signal = AbortSignal.timeout(deadline * 1000);
  let response: Response;
  let text: string;
  try {
    response = await fetch(`${endpoint}${path}`, { headers: { authorization: `Bearer ${token}` }, signal });
    text = await response.text();
  } catch (error) {
    throw new HetznerApiError(`${endpoint} does not answer: ${unanswered(error, deadline)}`, true);
  }
  const body = parsed(text) as { error?: { code?: string; message?: string } } | undefined;
  if (response.ok && body !== undefined) return body;
  const words = body?.error === undefined ? "" : `: ${body.error.message} (${body.error.code})`;
  const mayPass = response.status === 429 || response.status >= 500 || response.ok;
  throw new HetznerApiError(`${endpoint} answers ${response.status}${words}`, mayPass);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // a proxy between us and the API answers in HTML
  }
}
