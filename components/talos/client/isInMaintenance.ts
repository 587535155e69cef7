// Whether a node is in maintenance. The program itself calls this in every update, so the modules that talk to nodes are loaded only when needed.
import { shake } from "./handshake.ts";
import type { TalosCredentials } from "./talosClient.ts";

/** Seconds for each step: a node that is off delays an update by no more than this. */
const timeoutSeconds = 2;
/** How often a node is asked that accepts calls from anybody, and does not answer: it is up, so it does answer sooner or later. */
const attempts = 4;

/** False also if it is not known. A node with a config is recognized by its certificate, in one handshake. */
export async function isInMaintenance(talosAddress: string, credentials: TalosCredentials): Promise<boolean> {
  const handshake = await shake(talosAddress, credentials, timeoutSeconds).catch(() => undefined);
  if (handshake?.kind !== "untrusted" || !handshake.isWelcome) return false;
  const { probe } = await import("./nodeState.ts");
  for (let attempt = 1; attempt <= attempts; attempt++) {
    const { kind } = await probe(talosAddress, credentials, { timeoutSeconds });
    if (kind !== "unreachable") return kind === "maintenance";
  }
  return false;
}
