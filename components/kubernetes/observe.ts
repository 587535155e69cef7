// The observations of the gates on Kubernetes: several kinds of objects at the same time, each in its current state.
import type { Clock } from "../waiting/clock.ts";
import { Notifier } from "../waiting/notifier.ts";
import { KubernetesClient } from "./client.ts";
import type { KubernetesObject } from "./objects.ts";
import { type Seen, watch } from "./watch.ts";

export interface KubernetesCredentials {
  readonly kubeconfig: string;
}

/** One observation. A kind that could not be read is empty, or as it was read last. */
export type Observed<Kinds extends Record<string, unknown>> = {
  readonly [Kind in keyof Kinds]: readonly Kinds[Kind][];
} & {
  /** Why the API could not be read; undefined if it answers. */
  readonly unreachable: string | undefined;
};

/** The lists that are watched, by their names in an observation. */
export type Paths<Kinds> = { readonly [Kind in keyof Kinds]: string };

/** Watches all lists: yields once every list was read or failed, and then whenever one changes. */
export async function* observe<Kinds extends Record<string, KubernetesObject>>(
  { kubeconfig }: KubernetesCredentials,
  paths: Paths<Kinds>,
  signal: AbortSignal,
  clock: Clock,
): AsyncGenerator<Observed<Kinds>> {
  const client = new KubernetesClient(kubeconfig, clock);
  const seen = new Map<string, Seen<KubernetesObject>>();
  const items = new Map<string, readonly KubernetesObject[]>();
  const notifier = new Notifier(signal);
  const kinds = Object.keys(paths);
  for (const kind of kinds) {
    const report = (now: Seen<KubernetesObject>) => {
      seen.set(kind, now);
      if (now.kind === "items") items.set(kind, now.items);
      if (seen.size === kinds.length) notifier.notify();
    };
    void watch(client, { path: paths[kind] ?? "", report }, signal, clock);
  }
  while (await notifier.next()) {
    const unreachable = [...seen.values()].find((one) => one.kind === "unreachable")?.why;
    yield { ...Object.fromEntries(kinds.map((kind) => [kind, items.get(kind) ?? []])), unreachable } as Observed<Kinds>;
  }
}
