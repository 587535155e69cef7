import type { EtcdMember } from "../client/talosClient.ts";

/** Whether a member belongs to the node at this address: its name may be another node's, or not known yet. */
export function memberIsAt({ peerUrls }: Pick<EtcdMember, "peerUrls">, address: string): boolean {
  return peerUrls.some((url) => new URL(url).hostname.replace(/^\[|\]$/g, "") === address);
}
