// The documentation of a setting in the schema. docs/environments.md and the `config:` block of Pulumi.yaml are generated from it (`npm run settings`).
import type { z } from "zod";

declare module "zod" {
  // Extends zod's own metadata: `.meta()` accepts these keys, and `description`.
  interface GlobalMeta {
    /** How a value is written, if its type does not show it: "IPv4 range". In plain text or Markdown. */
    form?: string | undefined;
    /** The unit of a number. */
    unit?: "seconds" | "days" | "MiB" | "GiB" | undefined;
    example?: unknown;
    /** What is used if the key is not set and there is no fixed default: "the VIP, else the load balancer". */
    fallback?: string | undefined;
    /** Only for platforms on whose network a node can answer for another node's address. */
    needsLayer2?: true | undefined;
    /** The effect of a change on a running cluster, if that is known. */
    change?: keyof typeof changes | undefined;
    /** The key that has the same keys with the same meanings, so that they are documented once. */
    sameAs?: string | undefined;
  }
}

const oneByOne = "one control plane a run ([change](change.md#change-a-machines-type-location-or-vm-id))";

/** The effects that a change may have on existing nodes, with their meanings. */
export const changes = {
  "no reboot": "it takes effect while the nodes run",
  "upgrades the nodes": "each node is drained, gets another Talos and reboots ([upgrades](upgrades.md))",
  "new installations only": "nodes that are installed keep what they have",
  "at the next start": "it is written to the VM, and takes effect when the VM starts the next time",
  "off and on": `the server is turned off, changed and turned on; ${oneByOne}`,
  "recreates the machine": `the machine is deleted and another one is created; ${oneByOne}`,
  "moves the VM": "Proxmox migrates the VM to the other host",
  refused: "Sluice or the platform refuses it; the message says what to do instead",
  "another cluster": "everything is destroyed and created again",
} as const satisfies Readonly<Record<string, string>>;

/** What a schema returns, as readers get it: an environment is never changed after it was read. */
export type Settings<Schema extends z.ZodType> = DeepReadonly<z.output<Schema>>;

type DeepReadonly<T> = T extends (...args: never) => unknown
  ? T
  : T extends object
    ? { readonly [Key in keyof T]: DeepReadonly<T[Key]> }
    : T;
