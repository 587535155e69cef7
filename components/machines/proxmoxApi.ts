// The Proxmox API as far as it is asked by this program itself. One question with a deadline; how often it is asked is the caller's business.
import { request } from "node:https";

export interface ProxmoxApi {
  /** Such as `https://10.0.0.2:8006`. */
  readonly endpoint: string;
  /** Accept the certificate that Proxmox makes for itself. */
  readonly insecure: boolean;
  readonly token: string;
  /** Seconds until a question counts as not answered. */
  readonly deadline: number;
}

/** The API did not answer, or not with what was asked for. */
export class ProxmoxApiError extends Error {
  override readonly name = "ProxmoxApiError";
  /** Undefined where there was no answer. */
  readonly status: number | undefined;

  constructor(message: string, status?: number) {
    super(message);
    this.status = status;
  }
}

/** What the API has at a path such as `/nodes/pve/status`. Its errors stand in the status line. */
export function proxmoxGet(api: ProxmoxApi, path: string): Promise<unknown> {
  const { endpoint, insecure, token, deadline } = api;
  const url = `${endpoint.replace(/\/$/, "")}/api2/json${path}`;
  const signal = AbortSignal.timeout(deadline * 1000);
  return new Promise((done, fail) => {
    const headers = { authorization: `PVEAPIToken=${token}` };
    const silent = (error: Error) => {
      const why = error.name === "AbortError" || signal.aborted ? `nothing within ${deadline} s` : error.message;
      fail(new ProxmoxApiError(`${endpoint} does not answer: ${why}`));
    };
    const call = request(url, { headers, rejectUnauthorized: !insecure, signal }, (response) => {
      const { statusCode = 0, statusMessage = "" } = response;
      let body = "";
      response.setEncoding("utf8");
      response.on("data", (text: string) => {
        body += text;
      });
      response.on("error", silent);
      response.on("end", () => {
        const data = statusCode === 200 ? dataIn(body) : undefined;
        if (data !== undefined) done(data);
        else fail(new ProxmoxApiError(`${endpoint} answers ${statusCode} ${statusMessage}`.trimEnd(), statusCode));
      });
    });
    call.on("error", silent);
    call.end();
  });
}

function dataIn(body: string): unknown {
  try {
    return (JSON.parse(body) as { data?: unknown }).data;
  } catch {
    return undefined; // a proxy between us and the API answers in HTML
  }
}
