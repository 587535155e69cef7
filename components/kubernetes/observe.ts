// What the gates on Kubernetes look at: several kinds of objects at a time, each as it is now.
import type { Clock } from "../gates/clock.ts";
import type { Condition } from "../gates/gateDefinition.ts";
import { News } from "../gates/news.ts";
import { KubernetesClient } from "./client.ts";
import type { KubernetesObject } from "./objects.ts";
import { type Seen, watch } from "./watch.ts";

/** What opens the cluster. */
export interface KubernetesCredentials {
  readonly kubeconfig: string;
}

/** One look. What could not be seen is empty, or as it was seen last. */
export type Observed<Kinds extends Record<string, unknown>> = {
  readonly [Kind in keyof Kinds]: readonly Kinds[Kind][];
} & {
  /** Why the API could not be asked; undefined when it answers. */
  readonly unreachable: string | undefined;
};

/** The lists that are watched, by what they are called in an observation. */
export type Paths<Kinds> = { readonly [Kind in keyof Kinds]: string };

/** Watches all lists: an observation when every one has been read or could not be, and whenever one changes. */
export async function* observe<Kinds extends Record<string, KubernetesObject>>(
  { kubeconfig }: KubernetesCredentials,
  paths: Paths<Kinds>,
  signal: AbortSignal,
  clock: Clock,
): AsyncGenerator<Observed<Kinds>> {
  const client = new KubernetesClient(kubeconfig, clock);
  const seen = new Map<string, Seen<KubernetesObject>>();
  const items = new Map<string, readonly KubernetesObject[]>();
  const news = new News(signal);
  const kinds = Object.keys(paths);
  for (const kind of kinds) {
    const report = (now: Seen<KubernetesObject>) => {
      seen.set(kind, now);
      if (now.kind === "items") items.set(kind, now.items);
      if (seen.size === kinds.length) news.tell();
    };
    void watch(client, { path: paths[kind] ?? "", report }, signal, clock);
  }
  while (await news.next()) {
    const unreachable = [...seen.values()].find((one) => one.kind === "unreachable")?.why;
    yield { ...Object.fromEntries(kinds.map((kind) => [kind, items.get(kind) ?? []])), unreachable } as Observed<Kinds>;
  }
}

/** Holds every gate on Kubernetes while the API does not answer. */
export const apiAnswers: Condition<{ readonly unreachable: string | undefined }> = {
  phrase: "the Kubernetes API to answer",
  evaluate: ({ unreachable }) => (unreachable === undefined ? [] : [{ kind: "pending", reason: unreachable }]),
};
