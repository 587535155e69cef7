// The Hetzner API for snapshots: records the calls, and returns the given answers in order.
import type { Send } from "../../../components/api/callApi.ts";
import { type HetznerApi, hetznerApi } from "../../../components/api/hetznerApi.ts";

export const token = "the-token";

/** An answer: a body with status 200, a status with a body, or no answer at all. */
export type Answer =
  | Error
  | { readonly status: number; readonly body: string }
  | { readonly images: readonly object[] }
  | { readonly servers: readonly object[] };

export class FakeHetzner {
  /** The query of each call. */
  readonly asked: Record<string, string>[] = [];
  readonly headers: unknown[] = [];
  private readonly answers: Answer[];

  constructor(...answers: readonly Answer[]) {
    this.answers = [...answers];
  }

  readonly api = (given: string): HetznerApi => ({ ...hetznerApi(given), url: "https://api", send: this.send });

  private readonly send: Send = async (url, { headers }) => {
    this.asked.push(Object.fromEntries(new URL(url).searchParams));
    this.headers.push(headers);
    const answer = this.answers.shift();
    if (answer === undefined) throw new Error("asked once too often");
    if (answer instanceof Error) throw answer;
    return { reason: "", ...("status" in answer ? answer : { status: 200, body: JSON.stringify(answer) }) };
  };
}

export function server(name: string, location: string) {
  return { name, server_type: { name: "cx23" }, location: { name: location }, public_net: { ipv4: null } };
}

export function image(id: number, labels: Readonly<Record<string, string>> = {}) {
  return { id, description: `image ${id}`, labels, created: "2026-01-01T00:00:00Z" };
}
