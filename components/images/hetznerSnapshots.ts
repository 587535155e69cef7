// Snapshots as the Hetzner API lists them.

import { type HetznerApi, hetznerGet } from "../api/hetznerApi.ts";
import type { ImageSettings } from "../model/settings/image.ts";
import { labelSelector } from "./snapshotLabels.ts";

export interface SnapshotQuery {
  /** All of them, each with its value. */
  readonly labels: Readonly<Record<string, string>>;
  readonly architecture: ImageSettings["architecture"];
}

export interface Snapshot {
  readonly id: string;
  readonly description: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** Hetzner's names of the architectures. */
export const architectures = { amd64: "x86", arm64: "arm" } as const;

/** The newest snapshot that has all the labels and is complete. */
export async function newestSnapshot(api: HetznerApi, query: SnapshotQuery): Promise<Snapshot | undefined> {
  const [newest] = await snapshots(api, {
    label_selector: labelSelector(query.labels),
    architecture: architectures[query.architecture],
    status: "available",
    per_page: "1",
  });
  return newest;
}

/** A few of the newest snapshots with any labels: for a user who wonders why none matches. */
export function someSnapshots(api: HetznerApi): Promise<readonly Snapshot[]> {
  return snapshots(api, { per_page: "5" });
}

async function snapshots(api: HetznerApi, query: Readonly<Record<string, string>>): Promise<readonly Snapshot[]> {
  const search = new URLSearchParams({ type: "snapshot", sort: "created:desc", ...query });
  const { images } = (await hetznerGet(api, `/images?${search}`)) as { images: readonly ImageView[] };
  return images.map(({ id, description, labels }) => ({ id: String(id), description, labels }));
}

interface ImageView {
  readonly id: number;
  readonly description: string;
  readonly labels: Readonly<Record<string, string>>;
}
