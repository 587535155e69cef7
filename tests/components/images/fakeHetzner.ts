// The Hetzner API as far as the snapshots go: what it is asked, and answers in the order in which they are to come.
import { hetznerApi } from "../../../components/machines/hetznerApi.ts";

export const token = "the-token";

/** An answer: a body with status 200, a status with a body, or no answer at all. */
export type Answer =
  | Error
  | { readonly status: number; readonly body: string }
  | { readonly images: readonly object[] };

export class FakeHetzner {
  /** The query of each call. */
  readonly asked: Record<string, string>[] = [];
  readonly headers: unknown[] = [];
  private readonly answers: Answer[];

  constructor(...answers: readonly Answer[]) {
    this.answers = [...answers];
  }

  readonly api = (given: string) => ({ ...hetznerApi(given), endpoint: "https://api", fetch: this.fetch });

  private readonly fetch = async (url: unknown, options?: RequestInit): Promise<Response> => {
    this.asked.push(Object.fromEntries(new URL(String(url)).searchParams));
    this.headers.push(options?.headers);
    const answer = this.answers.shift();
    if (answer === undefined) throw new Error("asked once too often");
    if (answer instanceof Error) throw answer;
    return "status" in answer ? new Response(answer.body, { status: answer.status }) : Response.json(answer);
  };
}

export function image(id: number, labels: Readonly<Record<string, string>> = {}) {
  return { id, description: `image ${id}`, labels, created: "2026-01-01T00:00:00Z" };
}
