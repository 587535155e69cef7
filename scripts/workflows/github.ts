// The part of GitHub's REST API that the workflows use.
import { Failure } from "../base/fail.ts";

export interface GitHub {
  /** Every item of a list, from all its pages. */
  all<T>(path: string): Promise<T[]>;
  post<T>(path: string, body: object): Promise<T>;
  patch<T>(path: string, body: object): Promise<T>;
  delete(path: string): Promise<void>;
}

/** An error response. */
export class GitHubError extends Error {
  override name = "GitHubError";
  readonly status: number;

  constructor(call: string, status: number, message: string) {
    super(`GitHub: ${call}: ${status} ${message}`);
    this.status = status;
  }

  /** Whether permission is missing, as in a run for a pull request from a fork. */
  get isRefusal(): boolean {
    return [401, 403, 404].includes(this.status);
  }
}

const perPage = 100;
const timeoutMs = 30_000;

/** GitHub's API for a workflow run; paths are relative to the repository. */
export function gitHub(environment: NodeJS.ProcessEnv = process.env): GitHub {
  const { GITHUB_API_URL: api, GITHUB_REPOSITORY: repository, GITHUB_TOKEN: token } = environment;
  if (!api || !repository || !token) {
    throw new Failure("GITHUB_API_URL, GITHUB_REPOSITORY and GITHUB_TOKEN must be set, as a workflow run sets them");
  }
  const call = async <T>(method: string, path: string, body?: object): Promise<T> => {
    const answer = await fetch(`${api}/repos/${repository}${path}`, {
      method,
      headers: {
        accept: "application/vnd.github+json",
        authorization: `Bearer ${token}`,
        "x-github-api-version": "2022-11-28",
      },
      signal: AbortSignal.timeout(timeoutMs),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new GitHubError(`${method} ${path}`, answer.status, messageOf(text));
    return JSON.parse(text || "null");
  };
  return {
    async all<T>(path: string) {
      const items: T[] = [];
      for (let page = 1; ; page++) {
        const query = `${path.includes("?") ? "&" : "?"}per_page=${perPage}&page=${page}`;
        const found = await call<T[]>("GET", `${path}${query}`);
        items.push(...found);
        if (found.length < perPage) return items;
      }
    },
    post: (path, body) => call("POST", path, body),
    patch: (path, body) => call("PATCH", path, body),
    delete: (path) => call("DELETE", path),
  };
}

function messageOf(text: string): string {
  try {
    return JSON.parse(text).message ?? "";
  } catch {
    return text.slice(0, 200);
  }
}
