import type { Clock } from "../waiting/clock.ts";
import { KubernetesClient } from "./client.ts";

/** Milliseconds that the Kubernetes API may take to answer. */
export const callDeadlineMs = 5_000;

/** Calls for single objects, each with a deadline. */
export class KubernetesObjects {
  private readonly client: KubernetesClient;

  constructor(kubeconfig: string, clock: Clock) {
    this.client = new KubernetesClient(kubeconfig, clock);
  }

  /** Undefined if there is no such object. */
  async get<T>(path: string): Promise<T | undefined> {
    return await this.unlessGone(async () => JSON.parse(await this.call("GET", path)));
  }

  /** In the list at this path. */
  async create(path: string, body: unknown): Promise<void> {
    await this.call("POST", path, body);
  }

  async patch(path: string, body: unknown): Promise<void> {
    await this.unlessGone(() => this.call("PATCH", path, body));
  }

  /** Requests the eviction of a pod, which budgets may forbid; a pod that is already gone is no error. */
  async evict(path: string, body: unknown): Promise<void> {
    await this.unlessGone(() => this.call("POST", path, body));
  }

  async remove(path: string): Promise<void> {
    await this.unlessGone(() => this.call("DELETE", path));
  }

  private call(method: "GET" | "POST" | "PATCH" | "DELETE", path: string, body?: unknown): Promise<string> {
    return this.client.text(path, { method, body, signal: new AbortController().signal, deadlineMs: callDeadlineMs });
  }

  private async unlessGone<T>(call: () => Promise<T>): Promise<T | undefined> {
    try {
      return await call();
    } catch (error) {
      if ((error as { readonly status?: unknown }).status === 404) return undefined;
      throw error;
    }
  }
}
