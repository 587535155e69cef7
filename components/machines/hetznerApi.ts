// The Hetzner API as far as it is asked by this program itself. One question with a deadline; how often it is asked is the caller's business.
import { unanswered } from "../errors/unanswered.ts";

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

/** What the API has at a path such as `/servers?name=cp-1`. */
export async function hetznerGet({ endpoint, token, fetch, deadline }: HetznerApi, path: string): Promise<unknown> {
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
