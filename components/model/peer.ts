/** A control plane, as the other control planes reach it. */
export interface Peer {
  /** The node's name. */
  readonly name: string;
  /** Host name or address by which its Talos API is reached from this host. */
  readonly talosAddress: string;
  /** Its address in the node network. */
  readonly address: string;
}
