import type { ImageSettings } from "../model/settings/image.ts";

// The labels by which a Talos snapshot is found: together they identify the image.

export interface SnapshotLabelsArgs {
  /** With or without a leading `v`. */
  readonly talosVersion: string;
  /** The Image Factory's id: 64 hexadecimal digits. */
  readonly schematicId: string;
  readonly architecture: ImageSettings["architecture"];
}

/** A label's value holds at most 63 characters and a schematic's id has 64, so two labels hold one half each. */
const half = 32;

export function snapshotLabels({ talosVersion, schematicId, architecture }: SnapshotLabelsArgs) {
  return {
    os: "talos",
    version: talosVersion.replace(/^v/, ""),
    schematic: schematicId.slice(0, half),
    "schematic-rest": schematicId.slice(half),
    architecture,
  };
}

/** In the form of Hetzner's API; equal for equal labels in any order. */
export function labelSelector(labels: Readonly<Record<string, string>>): string {
  return Object.keys(labels)
    .sort()
    .map((key) => `${key}=${labels[key]}`)
    .join(",");
}
