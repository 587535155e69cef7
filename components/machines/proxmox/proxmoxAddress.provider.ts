// The operations of a ProxmoxAddress.
import { ApiError } from "../../api/apiError.ts";
import { type ProxmoxApi, proxmoxGet } from "../../api/proxmoxApi.ts";
import type { ResourceInputs } from "../../engine/checkoutResource.ts";
import { renamed } from "../../engine/renamed.ts";
import type { ResourceContext } from "../../engine/resourceContext.ts";
import { engineCalls, type ResourceOperations } from "../../engine/resourceProvider.ts";
import type { FailureCode } from "../../errors/catalogue.ts";
import { SluiceError } from "../../errors/sluiceError.ts";
import type { Clock } from "../../waiting/clock.ts";
import { poll } from "../../waiting/poll.ts";
import type { Delays } from "../../waiting/rounds.ts";
import type { ProxmoxAddressArgs } from "./proxmoxAddress.ts";

export type LeaseInputs = ResourceInputs<ProxmoxAddressArgs>;

export interface LeaseState extends LeaseInputs {
  /** The host of the VM. */
  readonly found: string;
}

/** The context, and the way to call Proxmox. */
export interface LeaseContext extends ResourceContext {
  readonly get: (api: ProxmoxApi, path: string) => Promise<unknown>;
}

/** Delays between two observations: Proxmox asks the agent each time and announces no changes. */
const delays: Delays = { firstMs: 500, factor: 1.5, mostMs: 3_000 };
/** Seconds for one call. */
const callDeadlineSeconds = 5;

export const operations = {
  id: ({ mac }) => mac,

  create: async (inputs, context) => ({ ...inputs, found: await lease(inputs, context) }),

  /** Observes once, within a time limit. If the VM does not answer, the last known address is kept. */
  async read(state, { get, note }) {
    const seen = await look(state, get);
    const found = "addresses" in seen ? addressOf(state, seen.addresses) : undefined;
    if (found === undefined || found === state.found) return state;
    await note(`${state.node} has the address ${found} now, not ${state.found}`, "warning");
    return { ...state, found };
  },

  /** The VM is asked again if it may be another one, or if it was found at another address. */
  difference(olds, news) {
    if (olds.mac !== news.mac) return { kind: "replace", keys: ["mac"] };
    const asked = ["apiUrl", "insecure", "token", "host", "vmId", "listed", "machineId"] as const;
    const isOther = olds.found !== news.listed || asked.some((key) => olds[key] !== news[key]);
    return { kind: isOther ? "update" : "none" };
  },

  migrate: (state) => renamed(state, { endpoint: "apiUrl", deadline: "deadlineSeconds" }),

  outcome: ({ found }) => `is at ${found}`,
} satisfies ResourceOperations<LeaseInputs, LeaseState, LeaseContext>;

export const { create, read, diff, update, remove } = engineCalls<LeaseInputs, LeaseState, LeaseContext>(
  operations,
  (context) => ({ ...context, get: proxmoxGet }),
);

/** Waits until the VM has its address. */
async function lease(inputs: LeaseInputs, context: LeaseContext): Promise<string> {
  const { get, clock, report } = context;
  const began = clock.now();
  const attempt = async () => {
    const seen = await look(inputs, get);
    if ("addresses" in seen) {
      const found = addressOf(inputs, seen.addresses);
      if (found === inputs.listed) return { found };
      if (found !== undefined) throw failure("SLU-M114", inputs, `it has ${found}`, clock, began);
    }
    const why = "why" in seen ? seen.why : "its NIC has no address yet";
    if ("refused" in seen) throw failure("SLU-M115", inputs, why, clock, began);
    report(`waits for an address by DHCP: ${why}`);
    return { late: failure("SLU-M113", inputs, why, clock, began) };
  };
  return await poll(attempt, { ...context, delays, until: () => began + inputs.deadlineSeconds * 1000 });
}

type Look = { readonly addresses: readonly string[] } | { readonly why: string; readonly refused?: true };

/** The addresses of the NIC as the agent reports them, or why there are none. */
async function look(inputs: LeaseInputs, get: LeaseContext["get"]): Promise<Look> {
  const { apiUrl, insecure, token, host, vmId, mac } = inputs;
  try {
    const api = { apiUrl, insecure, token, deadlineSeconds: callDeadlineSeconds };
    const said = await get(api, `/nodes/${host}/qemu/${vmId}/agent/network-get-interfaces`);
    const nic = interfacesIn(said).find(({ "hardware-address": own }) => own?.toLowerCase() === mac);
    if (nic === undefined) return { why: `its agent reports no NIC with the MAC ${mac}` };
    return { addresses: (nic["ip-addresses"] ?? []).flatMap((one) => (isUsable(one) ? [one["ip-address"]] : [])) };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const isRefusal = error.status === 401 || error.status === 403;
    return { why: error.message, ...(isRefusal && { refused: true }) };
  }
}

interface Interface {
  readonly "hardware-address"?: string;
  readonly "ip-addresses"?: readonly Address[];
}

interface Address {
  readonly "ip-address": string;
  readonly "ip-address-type": string;
}

function interfacesIn(said: unknown): readonly Interface[] {
  const result = (said as { result?: unknown } | null)?.result;
  return Array.isArray(result) ? result : [];
}

/** An address of the node's own network: a link-local address, which a NIC gives itself without DHCP, does not count. */
function isUsable({ "ip-address": address, "ip-address-type": type }: Address): boolean {
  return type === "ipv4" && !address.startsWith("169.254.");
}

/** A NIC may have several, such as the VIP: the listed one counts. */
function addressOf({ listed }: LeaseInputs, addresses: readonly string[]): string | undefined {
  return addresses.includes(listed) ? listed : addresses[0];
}

function failure(code: FailureCode, inputs: LeaseInputs, seen: string, clock: Clock, began: number): Error {
  const { node, mac, listed, host, vmId } = inputs;
  return new SluiceError({
    code,
    where: `${node} (VM ${vmId} on ${host}, MAC ${mac})`,
    what: `the VM to have the listed address ${listed} from the DHCP server`,
    seen,
    forSeconds: (clock.now() - began) / 1000,
  });
}
