import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { KubernetesClient } from "../../../components/kubernetes/client.ts";
import type { KubernetesObject } from "../../../components/kubernetes/objects.ts";
import { observe } from "../../../components/kubernetes/observe.ts";
import { type Seen, watch } from "../../../components/kubernetes/watch.ts";
import { systemClock } from "../../../components/waiting/clock.ts";
import { SteppedClock } from "../gates/steppedClock.ts";
import { ApiServer } from "./apiServer.ts";

let api: ApiServer;
let stop: AbortController;

beforeEach(async () => {
  api = new ApiServer();
  stop = new AbortController();
  await api.start();
});
afterEach(async () => {
  stop.abort();
  await api.stop();
});

/** What a watch reports, to be read one after another. */
class Reports {
  readonly done: Promise<void>;
  private readonly queue: string[] = [];
  private wake: () => void = () => undefined;

  constructor(client: KubernetesClient, clock = systemClock) {
    const report = (seen: Seen<KubernetesObject>) => {
      this.queue.push(seen.kind === "items" ? seen.items.map(({ metadata }) => metadata.name).join() : seen.why);
      this.wake();
    };
    this.done = watch(client, { path: "/api/v1/nodes", report }, stop.signal, clock);
  }

  async next(): Promise<string> {
    while (this.queue.length === 0) {
      await new Promise<void>((wake) => {
        this.wake = wake;
      });
    }
    return this.queue.shift() ?? "";
  }

  /** Reads until the function returns true. */
  async until(wanted: string | RegExp): Promise<void> {
    const matches = (text: string) => (typeof wanted === "string" ? text === wanted : wanted.test(text));
    while (!matches(await this.next()));
  }
}

async function start(): Promise<Reports> {
  return new Reports(new KubernetesClient(api.kubeconfig(), systemClock));
}

/** Resolves when the server has received this number of watches. */
async function watched(times: number): Promise<void> {
  while (api.asked.filter((call) => call.startsWith("WATCH")).length < times) {
    await new Promise((done) => setImmediate(done));
  }
}

describe("a watch of the Kubernetes API", () => {
  test("reports what exists, and then every change", async () => {
    api.put("a");
    const reports = await start();
    expect(await reports.next()).toBe("a");
    await watched(1);
    api.put("b");
    await reports.until("a,b");
    api.remove("a");
    await reports.until("b");
    expect(api.asked).toEqual(["GET /api/v1/nodes", "WATCH /api/v1/nodes"]);
  });

  test("resumes where it was when the server ends it, and misses nothing", async () => {
    const reports = await start();
    await watched(1);
    api.endWatches();
    api.put("between");
    await reports.until("between");
    expect(api.asked.filter((call) => call.startsWith("GET"))).toHaveLength(1);
  });

  test("pauses before it resumes if the server ends each watch at once without an error", async () => {
    const clock = new SteppedClock();
    api.answer = (request, response) => {
      const list = { metadata: { resourceVersion: "1" }, items: [] };
      response.end(request.url?.includes("watch=true") ? "" : JSON.stringify(list));
    };
    void new Reports(new KubernetesClient(api.kubeconfig(), clock), clock);
    const watches = () => api.asked.filter((call) => call.startsWith("WATCH")).length;
    while (watches() < 1) await clock.advance(0);
    for (let turns = 0; turns < 300; turns += 1) await clock.advance(0);
    expect(watches()).toBe(1);
    await clock.advance(100);
    while (watches() < 2) await clock.advance(0);
  });

  test("does not report the API as unreachable when a connection breaks and the next one works", async () => {
    const reports = await start();
    expect(await reports.next()).toBe("");
    await watched(1);
    api.breakWatches();
    api.put("after");
    expect(await reports.next()).toBe("after");
  });

  test("reads the list again when its position is too old", async () => {
    const reports = await start();
    await watched(1);
    api.forget();
    await watched(2);
    api.put("a");
    await reports.until("a");
    expect(api.asked.filter((call) => call.startsWith("GET"))).toHaveLength(2);
  });

  test("S1.7(6) reports that the API is gone, and resumes when it is back", async () => {
    api.put("a");
    const reports = await start();
    await reports.until("a");
    await watched(1);
    await api.stop();
    await reports.until(/^127\.0\.0\.1:\d+ refuses the connection$/);
    await api.start();
    await reports.until("a");
  });

  test("treats a kind that is not known yet as an empty list", async () => {
    api.answer = (_, response) => void response.writeHead(404).end("404 page not found");
    const reports = await start();
    expect(await reports.next()).toBe("");
    api.answer = undefined;
    api.put("a");
    await reports.until("a");
  });

  test("reports in the API's words why it may not list", async () => {
    api.answer = (_, response) => void response.writeHead(403).end(JSON.stringify({ message: "nodes is forbidden" }));
    expect(await (await start()).next()).toBe("403 nodes is forbidden");
  });

  test("S1.7(7) waits at most three seconds for an answer", async () => {
    const clock = new SteppedClock();
    api.answer = () => undefined;
    const reports = new Reports(new KubernetesClient(api.kubeconfig(), clock), clock);
    while (api.asked.length === 0) await clock.advance(0);
    await clock.advance(3_000);
    expect(await reports.next()).toMatch(/^127\.0\.0\.1:\d+ did not answer within 3 s$/);
  });

  test("drops a connection that is silent for twelve seconds", async () => {
    const clock = new SteppedClock();
    void new Reports(new KubernetesClient(api.kubeconfig(), clock), clock);
    while (api.asked.length < 2 || clock.pending !== 1) await clock.advance(0);
    await clock.advance(12_000);
    while (api.asked.length < 3) await clock.advance(100);
    expect(api.asked.at(-1)).toBe("WATCH /api/v1/nodes");
  });

  test("ends when its consumer ends", async () => {
    const reports = await start();
    await watched(1);
    stop.abort();
    await reports.done;
  });
});

describe("an observation of several kinds", () => {
  test("comes when each kind has been listed, and names those that could not be", async () => {
    api.put("a");
    api.answer = (request, response) => {
      if (request.url?.startsWith("/two"))
        return void response.writeHead(500).end(JSON.stringify({ message: "etcd is gone" }));
      response.end(JSON.stringify({ metadata: { resourceVersion: "1" }, items: [{ metadata: { name: "a" } }] }));
    };
    const paths = { one: "/one", two: "/two" };
    const look = observe<{ one: KubernetesObject; two: KubernetesObject }>(
      { kubeconfig: api.kubeconfig() },
      paths,
      stop.signal,
      systemClock,
    );
    const { value } = await look.next();
    expect(value).toEqual({ one: [{ metadata: { name: "a" } }], two: [], unreachable: "500 etcd is gone" });
  });

  test("quotes nothing of a kubeconfig that cannot be read", async () => {
    const look = observe({ kubeconfig: "users: [{token: geheim" }, { one: "/one" }, stop.signal, systemClock);
    const error = await look.next().catch((reason: Error) => reason);
    expect(String(error)).toBe("Error: the kubeconfig cannot be read as YAML");
  });
});
