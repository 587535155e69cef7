import type { TalosService } from "../../talos/client/talosClient.ts";

/** Services in state Failed, if there are any: Talos starts some again, which then fail again. */
export function failedServices(services: readonly TalosService[]): string | undefined {
  const failed = services.filter(({ state }) => state === "Failed").map(({ id }) => id);
  return failed.length === 0 ? undefined : `${failed.join(", ")} failed`;
}

/** The state of a Talos service, with its last message. */
export function serviceWords({ id, state, healthy, message }: TalosService): string {
  const health = state !== "Running" ? "" : healthy === undefined ? ", health unknown" : ", not healthy";
  return `${id} is ${state}${health}${message === "" ? "" : ` (${message})`}`;
}
