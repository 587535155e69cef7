// Helm's records of its releases: Secrets in the release's namespace. An operation during which the API goes away leaves one that says it is in progress,
// and with it Helm refuses both to install and to upgrade, forever. docs/decisions/resume.md
import { isDeepStrictEqual } from "node:util";
import { gzipSync } from "node:zlib";
import { record, text } from "../model/untyped.ts";
import type { KubernetesClient } from "./client.ts";
import { releaseIn } from "./helmReleases.ts";

/** A release of a chart. */
export interface ReleaseName {
  readonly namespace: string;
  readonly name: string;
}

/** A release whose last operation was interrupted. */
export interface UnfinishedRelease extends ReleaseName {
  /** Whether Helm will upgrade it next time, rather than install it. */
  readonly isInState: boolean;
  /** What is to be installed: the chart's version, and its values. */
  readonly wanted?: { readonly version: unknown; readonly values: unknown };
}

/** What is done to a record so that Helm can continue. */
export interface RecordChange {
  readonly record: string;
  readonly change: "removed" | "marked as failed";
}

const deadlineMs = 10_000;

/** Fixes the records of operations that did not complete. What they installed stays, and Helm's next operation takes it over. */
export async function settleRecords(
  client: KubernetesClient,
  { namespace, name, ...release }: UnfinishedRelease,
  signal: AbortSignal,
): Promise<readonly RecordChange[]> {
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/secrets`;
  const selector = encodeURIComponent(`owner=helm,name=${name}`);
  const { items } = await client.json<{ items: readonly unknown[] }>(`${path}?labelSelector=${selector}`, {
    signal,
    deadlineMs,
  });
  const changes = recordChanges(items, release);
  for (const { record: one, change } of changes) {
    const call =
      change === "removed"
        ? ({ method: "DELETE" } as const)
        : ({ method: "PATCH", body: failedRecord(items.find((item) => nameOf(item) === one)) } as const);
    await client.text(`${path}/${one}`, { ...call, signal, deadlineMs });
  }
  return changes;
}

/**
 * An installation needs that no record of an earlier one is left. A change needs one that is not in progress: the last that was deployed, or, where none was,
 * one that failed. A release that is in no state, and is exactly what is to be installed, was installed by a run that could not record it; any other is someone's.
 */
export function recordChanges(
  secrets: readonly unknown[],
  { isInState, wanted }: Pick<UnfinishedRelease, "isInState" | "wanted">,
): readonly RecordChange[] {
  const [only, ...others] = secrets;
  if (!isInState && others.length === 0 && only !== undefined && isInstalled(only, wanted)) {
    return [{ record: nameOf(only), change: "removed" }];
  }
  const records = secrets.map((secret) => {
    const { status, version } = record(record(record(secret).metadata).labels);
    return { record: nameOf(secret), status: text(status), version: Number(version) };
  });
  const wasDeployed = records.some(({ status }) => status === "deployed" || status === "superseded");
  const newest = Math.max(...records.map(({ version }) => version));
  return records.flatMap(({ record: one, status, version }): RecordChange[] => {
    const isInProgress = status.startsWith("pending-") && version === newest;
    if (isInProgress && isInState && !wasDeployed) return [{ record: one, change: "marked as failed" }];
    const isInTheWay = isInProgress || (status === "failed" && !wasDeployed && !isInState);
    return isInTheWay ? [{ record: one, change: "removed" }] : [];
  });
}

function isInstalled(secret: unknown, wanted: UnfinishedRelease["wanted"]): boolean {
  if (wanted === undefined || record(record(record(secret).metadata).labels).status !== "deployed") return false;
  const { chart, config } = releaseIn(secret);
  const { version } = record(record(chart).metadata);
  return version === wanted.version && isDeepStrictEqual(config ?? {}, wanted.values ?? {});
}

/** What changes in a record so that it says that its operation failed. Helm reads the status in the compressed text, and finds records by the label. */
export function failedRecord(secret: unknown): object {
  const release = releaseIn(secret);
  const failed = { ...release, info: { ...record(release.info), status: "failed" } };
  const again = gzipSync(JSON.stringify(failed)).toString("base64");
  return {
    metadata: { labels: { status: "failed" } },
    data: { release: Buffer.from(again).toString("base64") },
  };
}

function nameOf(secret: unknown): string {
  return text(record(record(secret).metadata).name);
}
