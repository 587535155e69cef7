export interface InstallerImageArgs {
  /** Host of the Image Factory. */
  readonly factory: string;
  /** Talos' own name of the platform: `metal`. */
  readonly platform: string;
  readonly secureBoot: boolean;
  readonly schematicId: string;
  /** With or without a leading `v`. */
  readonly talosVersion: string;
}

/** Reference of the image that installs and upgrades a node, in the form that the factory uses since Talos 1.10. */
export function installerImage({
  factory,
  platform,
  secureBoot,
  schematicId,
  talosVersion,
}: InstallerImageArgs): string {
  const name = `${platform}-installer${secureBoot ? "-secureboot" : ""}`;
  return `${factory}/${name}/${schematicId}:v${talosVersion.replace(/^v/, "")}`;
}
