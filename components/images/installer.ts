/** Talos' own name of the platform that an image is made for: it decides where the node looks for its network configuration. */
export type TalosPlatform = "hcloud" | "metal" | "nocloud";

export function talosPlatform(
  platform: "hetzner" | "proxmox" | "existing",
  addressing: "dhcp" | "meta" | "nocloud",
): TalosPlatform {
  if (platform === "hetzner") {
    return "hcloud";
  }
  // META key 10 is read on metal only.
  return addressing === "nocloud" ? "nocloud" : "metal";
}

export interface InstallerImageArgs {
  /** Host of the Image Factory. */
  readonly factory: string;
  readonly platform: TalosPlatform;
  readonly secureBoot: boolean;
  readonly schematicId: string;
  /** With or without a leading `v`. */
  readonly talosVersion: string;
}

/** Reference of the image that installs and upgrades a node, in the form that the factory has had since Talos 1.10. */
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
