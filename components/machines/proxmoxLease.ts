// What the resource ProxmoxAddress does. The engine's provider process loads this file from the checkout, so the code that runs is always the current one.
import type { FailureCode } from "../errors/catalogue.ts";
import { failureMessage } from "../errors/failureMessage.ts";
import type { Clock } from "../gates/clock.ts";
import { repeat } from "../talos/repeat.ts";
import { inEngine, type Surroundings } from "../talos/surroundings.ts";
import { type ProxmoxApi, ProxmoxApiError, proxmoxGet } from "./proxmoxApi.ts";

export interface LeaseInputs {
  readonly node: string;
  readonly endpoint: string;
  readonly insecure: boolean;
  /** Secret. */
  readonly token: string;
  readonly host: string;
  readonly vmId: number;
  readonly mac: string;
  readonly listed: string;
  readonly machineId: string;
  readonly deadline: number;
  /** The resource's own URN, for its row. */
  readonly row: string;
}

export interface LeaseState extends LeaseInputs {
  /** Where the VM is. */
  readonly found: string;
}

/** How Proxmox is asked. */
export interface Asking extends Pick<Surroundings, "clock" | "chance" | "interrupted" | "report" | "note"> {
  readonly get: (api: ProxmoxApi, path: string) => Promise<unknown>;
}

/** Seconds between two looks: Proxmox asks the agent itself each time, and has no way to tell by itself. */
const pace = [0.5, 3] as const;
/** Seconds for one question. */
const patience = 5;

export const operations = {
  async create(inputs: LeaseInputs, asking: Asking) {
    return { id: inputs.mac, outs: { ...inputs, found: await lease(inputs, asking) } };
  },

  async update(inputs: LeaseInputs, asking: Asking) {
    return { outs: { ...inputs, found: await lease(inputs, asking) } };
  },

  /** One look, bounded. Of a VM that says nothing what is known is kept. */
  async read(id: string, props: LeaseState, asking: Asking) {
    const seen = await look(props, asking.get);
    const found = "addresses" in seen ? addressOf(props, seen.addresses) : undefined;
    if (found === undefined || found === props.found) return { id, props };
    await asking.note(`${props.node} has the address ${found} now, not ${props.found}`, "warning");
    return { id, props: { ...props, found } };
  },
};

/** Offline. Where the VM is asked anew is where another one may be meant, or it was found elsewhere. */
export async function diff(_id: string, before: LeaseState, inputs: LeaseInputs) {
  const asked = ["endpoint", "insecure", "token", "host", "vmId", "listed", "machineId"] as const;
  const isOther = before.mac !== inputs.mac;
  const changes = isOther || before.found !== inputs.listed || asked.some((key) => before[key] !== inputs[key]);
  return { changes, replaces: isOther ? ["mac"] : [] };
}

const real = (world: Surroundings): Asking => ({ ...world, get: proxmoxGet });
const outcome = ({ outs: { found } }: { readonly outs: LeaseState }) => `is at ${found}`;

export const create = (inputs: LeaseInputs) =>
  inEngine(inputs.row, (world) => operations.create(inputs, real(world)), outcome);
export const update = (_id: string, _before: LeaseState, inputs: LeaseInputs) =>
  inEngine(inputs.row, (world) => operations.update(inputs, real(world)), outcome);
export const read = (id: string, before: LeaseState) =>
  inEngine(before.row, (world) => operations.read(id, before, real(world)));

/** Waits until the VM has an address. */
async function lease(inputs: LeaseInputs, asking: Asking): Promise<string> {
  const { get, clock, report } = asking;
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
  return await repeat(attempt, { ...asking, pace, until: () => began + inputs.deadline * 1000 });
}

type Look = { readonly addresses: readonly string[] } | { readonly why: string; readonly refused?: true };

/** The addresses of the NIC as the agent tells them, or why there is nothing to tell. */
async function look(inputs: LeaseInputs, get: Asking["get"]): Promise<Look> {
  const { endpoint, insecure, token, host, vmId, mac } = inputs;
  try {
    const api = { endpoint, insecure, token, deadline: patience };
    const said = await get(api, `/nodes/${host}/qemu/${vmId}/agent/network-get-interfaces`);
    const nic = interfacesIn(said).find(({ "hardware-address": own }) => own?.toLowerCase() === mac);
    if (nic === undefined) return { why: `its agent tells of no NIC with the MAC ${mac}` };
    return { addresses: (nic["ip-addresses"] ?? []).flatMap((one) => (isUsable(one) ? [one["ip-address"]] : [])) };
  } catch (error) {
    if (!(error instanceof ProxmoxApiError)) throw error;
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

/** An address of the node's own network: what a NIC gives itself when nobody answers it is none. */
function isUsable({ "ip-address": address, "ip-address-type": type }: Address): boolean {
  return type === "ipv4" && !address.startsWith("169.254.");
}

/** A NIC may have more than one, such as the VIP: the listed one counts. */
function addressOf({ listed }: LeaseInputs, addresses: readonly string[]): string | undefined {
  return addresses.includes(listed) ? listed : addresses[0];
}

function failure(code: FailureCode, inputs: LeaseInputs, seen: string, clock: Clock, began: number): Error {
  const { node, mac, listed, host, vmId } = inputs;
  return new Error(
    failureMessage({
      code,
      where: `${node} (VM ${vmId} on ${host}, MAC ${mac})`,
      what: `the VM to have the listed address ${listed} from the DHCP server`,
      seen,
      forSeconds: (clock.now() - began) / 1000,
    }),
  );
}
