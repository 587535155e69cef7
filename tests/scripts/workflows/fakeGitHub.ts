// A GitHub that keeps comments and issues in memory, behind a real HTTP server, so that the client's own calls are tested too.
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { type GitHub, gitHub } from "../../../scripts/workflows/github.ts";

export const bot = "github-actions[bot]";

export interface FakePost {
  readonly id: number;
  readonly number: number;
  body: string;
  title?: string;
  state: string;
  readonly user: { readonly login: string };
  readonly pull_request?: object;
}

export interface FakeGitHub {
  readonly github: GitHub;
  readonly comments: FakePost[];
  readonly issues: FakePost[];
  /** What was posted to issues, except comments of the pull request 7. */
  readonly said: string[];
  /** Every call, "METHOD /path". */
  readonly calls: string[];
  /** Answers every call from now on with this status. */
  refuse(status: number): void;
  post(kind: "comments" | "issues", body: string, login?: string, more?: Partial<FakePost>): FakePost;
  stop(): Promise<void>;
}

export async function startFakeGitHub(): Promise<FakeGitHub> {
  const comments: FakePost[] = [];
  const issues: FakePost[] = [];
  const said: string[] = [];
  const calls: string[] = [];
  let refused: number | undefined;
  let nextId = 100;

  const post: FakeGitHub["post"] = (kind, body, login = bot, more = {}) => {
    const id = nextId++;
    const made: FakePost = { id, number: id, body, state: "open", user: { login }, ...more };
    (kind === "comments" ? comments : issues).push(made);
    return made;
  };
  const answer = (method: string, path: string, body: Partial<FakePost>): unknown => {
    const [place = "", query = ""] = path.replace("/repos/me/sluice", "").split("?");
    const parameters = new URLSearchParams(query);
    const paged = (posts: FakePost[]) => {
      const size = Number(parameters.get("per_page") ?? 30);
      const start = (Number(parameters.get("page") ?? 1) - 1) * size;
      return posts.slice(start, start + size);
    };
    const [, kind, id] = /^\/issues(\/comments)?\/(\d+)$/.exec(place) ?? [];
    const list = kind === undefined ? issues : comments;
    const found = list.findIndex((item) => item.id === Number(id));
    if (method === "GET" && place === "/issues/7/comments") return paged(comments);
    if (method === "GET" && place === "/issues") {
      return paged(issues.filter(({ state }) => state === parameters.get("state")));
    }
    if (method === "POST" && place === "/issues/7/comments") return post("comments", body.body ?? "");
    if (method === "POST" && place === "/issues")
      return post("issues", body.body ?? "", bot, { title: body.title ?? "" });
    if (method === "POST" && /^\/issues\/\d+\/comments$/.test(place)) return said.push(`${place} ${body.body}`);
    if (method === "PATCH" && found >= 0) return Object.assign(list[found] ?? {}, body);
    if (method === "DELETE" && found >= 0) return void list.splice(found, 1);
    throw new Error(`the fake does not know ${method} ${path}`);
  };

  const server = createServer((request, response) => {
    void textOf(request).then((text) => {
      const { method = "", url = "", headers } = request;
      calls.push(`${method} ${url.replace("/repos/me/sluice", "")}`);
      const status = headers.authorization === "Bearer t0ken" ? refused : 401;
      if (status !== undefined) {
        response.writeHead(status).end(JSON.stringify({ message: "Resource not accessible by integration" }));
        return;
      }
      const result = answer(method, url, text === "" ? {} : JSON.parse(text));
      if (result === undefined) response.writeHead(204).end();
      else response.writeHead(200).end(JSON.stringify(result));
    });
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo; // a server that listens on a port has one
  return {
    github: gitHub({
      GITHUB_API_URL: `http://127.0.0.1:${port}`,
      GITHUB_REPOSITORY: "me/sluice",
      GITHUB_TOKEN: "t0ken",
    }),
    comments,
    issues,
    said,
    calls,
    refuse: (status) => {
      refused = status;
    },
    post,
    stop: () =>
      new Promise((stopped) => {
        server.close(() => stopped());
        server.closeAllConnections();
      }),
  };
}

async function textOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part);
  return Buffer.concat(parts).toString();
}
