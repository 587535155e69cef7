// What the engine asks of MachineChanges. Loaded from the checkout, so that the current code runs and not what a state keeps.
import { isDeepStrictEqual } from "node:util";
import { failureMessage } from "../errors/failureMessage.ts";
import { ChangeProof } from "../lifecycle/changeProof.ts";
import type { Peer } from "../lifecycle/kubernetesAccess.ts";
import type { TalosCredentials } from "../talos/client/talosClient.ts";
import { asFailure, endMessage, NodeFailure } from "../talos/nodeFailure.ts";
import { askPatiently } from "../talos/retry.ts";
import { inEngine, type Surroundings } from "../talos/surroundings.ts";
import { HetznerApiError } from "./hetznerApi.ts";
import { inWords, type MachineEntries, type MachineTraits, machineChanges, moves, takeovers } from "./machineChange.ts";
import { ProxmoxApiError } from "./proxmoxApi.ts";
import { type MachinePlace, type PlaceArgs, type StandingMachines, standingMachines } from "./standingMachines.ts";

/** As the resource hands them in. */
export interface ChangesInputs {
  readonly machines: MachineEntries;
  readonly place: MachinePlace;
  readonly hasFixedAddresses: boolean;
  /** Of the account with the platform. Secret. */
  readonly token?: string;
  readonly credentials: TalosCredentials;
  readonly deadline: number;
  /** The resource's own URN, for its row. */
  readonly row: string;
}

export interface ChangesState extends ChangesInputs {
  /** Control planes that were let through, for as long as nobody has seen that it came to that. */
  readonly open: readonly string[];
  /** What a refresh found machines to be, where that is not what was asked for. */
  readonly found: Readonly<Record<string, MachineTraits>>;
  /** The same in words. */
  readonly drift: readonly string[];
}

/** Where the world is told of besides. */
export interface ChangesWorld extends Surroundings {
  readonly standing: (args: PlaceArgs) => Promise<StandingMachines>;
}

export const operations = {
  /** The first time there is no machine, or none that this would know of. */
  async create(inputs: ChangesInputs) {
    return { id: "machines", outs: settled(inputs) };
  },

  /** Whoever turns a control plane off must have been let through here, in this run. */
  async update(olds: ChangesState, news: ChangesInputs, world: ChangesWorld) {
    const was = known(olds);
    const isOfMatter = machineChanges(was, news.machines).some(({ role }) => role === "controlplane");
    const [coming, moving] = [takeoversOf(olds, news), moves(olds.machines, news.machines)];
    if (!isOfMatter && coming.length === 0 && moving.length === 0 && olds.open.length === 0) {
      return { outs: settled(news) };
    }
    world.report("looks which machines there are");
    const standing = await find(news, { ...news.machines, ...olds.machines }, world);
    for (const { node, from, words } of coming) {
      if (standing[from] === undefined) continue;
      throw refusal(
        "SLU-L105",
        node,
        `it is to have the ${words}, which ${from} has for as long as its machine is there`,
      );
    }
    for (const { node, was, is } of moving) {
      await refuseMove({ node, endpoint: standing[node]?.endpoint, to: is.address, from: was.address }, news, world);
    }
    // By what they are, and not by what was asked for before, which may have failed half way.
    const changes = machineChanges(standing, news.machines).filter(({ role }) => role === "controlplane");
    const began = world.clock.now();
    try {
      const peers = peersOf({ ...news.machines, ...olds.machines }, standing);
      await new ChangeProof(peers, news.credentials, world).bears(changes, began + news.deadline * 1000);
    } catch (error) {
      const seconds = (world.clock.now() - began) / 1000;
      const node = changes.map((change) => change.node).join(", ");
      const end = { node, what: "etcd to bear the change of the machine", state: "unchanged", attempts: 1, seconds };
      throw new Error(endMessage(asFailure(error, "SLU-L101"), end));
    }
    return { outs: { ...settled(news), open: changes.map(({ node }) => node) } };
  },

  /** Offline. In a preview this is where a person reads what becomes of machines that run. */
  async diff(olds: ChangesState, news: ChangesInputs, world: Pick<Surroundings, "note">) {
    const changes = machineChanges(known(olds), news.machines);
    for (const change of changes) await world.note(inWords(change), "warning");
    const controlPlanes = changes.filter(({ role }) => role === "controlplane").map(({ node }) => node);
    if (controlPlanes.length > 1) {
      const all = controlPlanes.join(", ");
      await world.note(
        `${all}: \`up\` refuses to change several control planes of a living cluster at once`,
        "warning",
      );
    }
    for (const { node, from, words } of takeoversOf(olds, news)) {
      await world.note(
        `${node} is to have the ${words} of ${from}: \`up\` refuses that while ${from} has a machine`,
        "warning",
      );
    }
    for (const { node, was, is } of moves(olds.machines, news.machines)) {
      const words = `${node} is to have the address ${is.address} in place of ${was.address}`;
      await world.note(`${words}: \`up\` refuses that while it lives at the old one`, "warning");
    }
    if (olds.open.length > 0) {
      await world.note(`looks whether what was to become of ${olds.open.join(", ")} in the run before has`, "info");
    }
    const matters = ({ machines, place, token, credentials }: ChangesInputs) => ({
      machines,
      place,
      token,
      credentials,
    });
    const isOther = !isDeepStrictEqual(matters(olds), matters(news));
    return { changes: isOther || olds.open.length > 0 || olds.drift.length > 0 };
  },

  /** One look, which never throws: of machines that nobody tells of is known what was known. */
  async read(id: string, props: ChangesState, world: Pick<ChangesWorld, "standing">) {
    const { place, token, machines } = props;
    const standing = await world.standing({ place, token, entries: machines }).catch(() => undefined);
    if (standing === undefined) return { id, props };
    const drifted = Object.keys(machines).filter((node) => {
      const [own, entry] = [standing[node], machines[node]];
      return own !== undefined && entry !== undefined && machineChanges({ [node]: own }, { [node]: entry }).length > 0;
    });
    // What was let through and has not come to it is no drift.
    const nodes = drifted.filter((node) => !props.open.includes(node));
    const found = Object.fromEntries(nodes.map((node) => [node, traitsOf(standing[node])]));
    const drift = machineChanges(found, machines).map(
      ({ node, of, was, is, effect }) =>
        `${node} has the ${of} ${was}, and should have ${is}: \`up\` ${effect === "off" ? "turns it off" : "makes it anew"} for that`,
    );
    return { id, props: { ...props, found, drift } };
  },
};

const real = (world: Surroundings): ChangesWorld => ({ ...world, standing: standingMachines });

export const create = (inputs: ChangesInputs) => operations.create(inputs);
export const update = (_id: string, olds: ChangesState, news: ChangesInputs) =>
  inEngine(
    news.row,
    (world) => operations.update(olds, news, real(world)),
    ({ outs: { open } }) => (open.length === 0 ? "no control plane is touched" : `etcd bears it: ${open.join(", ")}`),
  );
export const diff = (_id: string, olds: ChangesState, news: ChangesInputs) =>
  inEngine(news.row, (world) => operations.diff(olds, news, world));
export const read = (id: string, props: ChangesState) =>
  inEngine(props.row, (world) => operations.read(id, props, real(world)));

function settled(inputs: ChangesInputs): ChangesState {
  return { ...inputs, open: [], found: {}, drift: [] };
}

/** What is known of the machines without asking. */
function known({ machines, found }: ChangesState): Readonly<Record<string, MachineTraits>> {
  return { ...machines, ...found };
}

function traitsOf(machine: StandingMachines[string] | undefined): MachineTraits {
  const { endpoint: _, ...traits } = machine ?? { endpoint: "" };
  return traits;
}

/** A machine that was there before keeps on under another name. */
function takeoversOf(olds: ChangesState, { machines, place }: ChangesInputs) {
  return place.kind === "existing" ? [] : takeovers(olds.machines, machines);
}

/** The control planes that there are. */
function peersOf(entries: MachineEntries, standing: StandingMachines): Peer[] {
  return Object.entries(entries).flatMap(([node, { role, address }]) => {
    const endpoint = standing[node]?.endpoint;
    return role === "controlplane" && endpoint !== undefined ? [{ node, address, endpoint }] : [];
  });
}

async function find({ place, token, deadline }: ChangesInputs, entries: MachineEntries, world: ChangesWorld) {
  const { clock, chance } = world;
  const asked = await askPatiently(() => world.standing({ place, token, entries }), {
    ...{ clock, chance, deadline },
    passes: (error) =>
      error instanceof HetznerApiError
        ? error.mayPass
        : error instanceof ProxmoxApiError && (error.status ?? 500) >= 500,
  });
  if (asked.ok) return asked.value;
  const seen = (asked.error as Error).message;
  const code = place.kind === "proxmox" ? "SLU-M115" : "SLU-M102";
  throw new Error(failureMessage({ code, what: "the machines to be known before they are changed", seen }));
}

interface Moving {
  readonly node: string;
  /** Where it is reached, where it has a machine. */
  readonly endpoint: string | undefined;
  readonly from: string;
  readonly to: string;
}

/** Its config would be sent to the new address, where it is not. */
async function refuseMove(
  { node, endpoint, from, to }: Moving,
  { credentials, hasFixedAddresses }: ChangesInputs,
  { access }: ChangesWorld,
): Promise<void> {
  if (endpoint === undefined) return;
  const { kind } = await access.probe(endpoint, credentials);
  const isFixed = kind === "ours" || kind === "settling" || (kind === "maintenance" && hasFixedAddresses);
  if (isFixed) throw refusal("SLU-L105", node, `it lives at ${from}, and is to be at ${to}`);
}

function refusal(code: "SLU-L105", node: string, seen: string): Error {
  const what = "the node to keep its name and its address while it lives";
  const end = { node, what, state: "unchanged", attempts: 1, seconds: 0 };
  return new Error(endMessage(new NodeFailure(code, `${seen}. Nothing was changed`), end));
}
