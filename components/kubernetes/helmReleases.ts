// Helm's own account of what it has installed: a Secret for each revision of a release.
import { gunzipSync } from "node:zlib";
import { record, text } from "../model/untyped.ts";
import type { KubernetesClient } from "./client.ts";

/** A release as Helm deployed it last. */
export interface HelmRelease {
  readonly namespace: string;
  readonly name: string;
  readonly chart: string;
  readonly version: string;
  /** Those that its user gave. They may have secrets. */
  readonly values: Readonly<Record<string, unknown>>;
  /** Those of the chart. */
  readonly defaults: Readonly<Record<string, unknown>>;
}

/** Milliseconds: a record of Cilium has a megabyte. */
const deadlineMs = 15_000;

/** Those that are deployed, in all namespaces. */
export async function deployedReleases(client: KubernetesClient): Promise<readonly HelmRelease[]> {
  const selector = encodeURIComponent("owner=helm,status=deployed");
  const { items } = await client.json<{ readonly items: readonly unknown[] }>(
    `/api/v1/secrets?labelSelector=${selector}`,
    { signal: new AbortController().signal, deadlineMs },
  );
  return items.map(releaseOf);
}

function releaseOf(secret: unknown): HelmRelease {
  const { namespace, name, chart, config } = releaseIn(secret);
  const { metadata, values } = record(chart);
  return {
    namespace: text(namespace),
    name: text(name),
    chart: text(record(metadata).name),
    version: text(record(metadata).version),
    values: record(config),
    defaults: record(values),
  };
}

/** The content of a record. */
export function releaseIn(secret: unknown): Readonly<Record<string, unknown>> {
  const encoded = Buffer.from(text(record(record(secret).data).release), "base64").toString();
  return record(JSON.parse(gunzipSync(Buffer.from(encoded, "base64")).toString()));
}
