// How a Talos snapshot is found again: by labels that say all that makes one image another.

export interface SnapshotLabelsArgs {
  /** With or without a leading `v`. */
  readonly talosVersion: string;
  /** The Image Factory's id: 64 hexadecimal digits. */
  readonly schematicId: string;
  readonly architecture: "amd64" | "arm64";
}

/** A label's value holds 63 characters and a schematic's id has 64, so two labels hold one half of it each: together they are the whole. */
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

/** As Hetzner's API takes it, and the same for the same labels in any order. */
export function labelSelector(labels: Readonly<Record<string, string>>): string {
  return Object.keys(labels)
    .sort()
    .map((key) => `${key}=${labels[key]}`)
    .join(",");
}
