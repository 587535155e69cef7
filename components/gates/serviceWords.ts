import type { TalosService } from "../talos/client/talosClient.ts";

/** How a service of Talos is, with what it said last. */
export function serviceWords({ id, state, healthy, message }: TalosService): string {
  const health = state !== "Running" ? "" : healthy === undefined ? ", health unknown" : ", not healthy";
  return `${id} is ${state}${health}${message === "" ? "" : ` (${message})`}`;
}
