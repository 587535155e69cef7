// The operations of QuorumGuard.

import { isDeepStrictEqual } from "node:util";
import { isRetryableApiError } from "../api/apiError.ts";
import { backupFirst, backupNote } from "../backup/backupFirst.ts";
import type { ResourceInputs } from "../engine/checkoutResource.ts";
import { allRenamed, renamed } from "../engine/renamed.ts";
import { engineCalls, type Note, type ResourceOperations } from "../engine/resourceProvider.ts";
import { SluiceError } from "../errors/sluiceError.ts";
import {
  inWords,
  type MachineEntries,
  type MachineTraits,
  machineChanges,
  moves,
  takeovers,
} from "../lifecycle/changePlan.ts";
import { ChangeProof } from "../lifecycle/changeProof.ts";
import type { CurrentMachines, CurrentMachinesArgs } from "../lifecycle/machinePlatform.ts";
import type { Peer } from "../model/peer.ts";
import { type NodeResourceContext, nodeContext } from "../talos/access/nodeAccess.ts";
import { asFailure, endFailure } from "../talos/access/nodeFailure.ts";
import { retryApi } from "../waiting/retry.ts";
import { currentMachines, platformAt } from "./currentMachines.ts";
import type { QuorumGuardArgs } from "./quorumGuard.ts";

export type QuorumGuardInputs = ResourceInputs<QuorumGuardArgs>;

export interface QuorumGuardState extends QuorumGuardInputs {
  /** Control planes whose change was allowed, until it is known whether the change was made. */
  readonly open: readonly string[];
  /** The traits that a refresh found on machines, if they are not the requested ones. */
  readonly found: Readonly<Record<string, MachineTraits>>;
  /** The same as text. */
  readonly drift: readonly string[];
}

/** The context, and the way to list the platform's machines. */
export interface QuorumGuardContext extends NodeResourceContext {
  readonly currentMachines: (args: CurrentMachinesArgs) => Promise<CurrentMachines>;
}

export const operations = {
  id: () => "machines",

  /** At the first run there is no machine, or none that this resource knows of. */
  create: async (inputs) => settled(inputs),

  /** A control plane is only powered off if that was allowed here, in this run. */
  async update(olds, news, context) {
    const was = known(olds);
    const { machineTraits } = platformAt(news.place);
    const isOfMatter = machineChanges(was, news.machines, machineTraits).some(({ role }) => role === "controlplane");
    const [coming, moving] = [takeoversOf(olds, news), moves(olds.machines, news.machines)];
    if (!isOfMatter && coming.length === 0 && moving.length === 0 && olds.open.length === 0) {
      return settled(news);
    }
    context.report("checks which machines exist");
    const current = await find(news, { ...news.machines, ...olds.machines }, context);
    for (const { node, from, words } of coming) {
      if (current[from] === undefined) continue;
      throw refusal("SLU-L105", node, `it would get the ${words}, which ${from} keeps until its machine is deleted`);
    }
    for (const { node, was, is } of moving) {
      await refuseMove(
        { node, talosAddress: current[node]?.talosAddress, to: is.address, from: was.address },
        news,
        context,
      );
    }
    // Judged by the machines' actual traits, and not by the last requested ones: that change may have failed half-way.
    const changes = machineChanges(current, news.machines, machineTraits).filter(({ role }) => role === "controlplane");
    const began = context.clock.now();
    try {
      const controlPlanes = peersOf({ ...news.machines, ...olds.machines }, current);
      const { backup, credentials } = news;
      const proof = new ChangeProof(controlPlanes, credentials, context);
      const { isLiving } = await proof.refuseLossOfQuorum(changes, began + news.deadlineSeconds * 1000);
      const reason = `before the machine of ${changes.map(({ node }) => node).join(", ")} is changed`;
      if (isLiving && backup !== undefined) {
        await backupFirst(backup, { controlPlanes, credentials }, reason, context);
      }
    } catch (error) {
      const seconds = (context.clock.now() - began) / 1000;
      const node = changes.map((change) => change.node).join(", ");
      const end = { node, what: "etcd to keep its quorum", state: "unchanged", attempts: 1, seconds };
      throw endFailure(asFailure(error, "SLU-L101"), end);
    }
    return { ...settled(news), open: changes.map(({ node }) => node) };
  },

  difference(olds, news) {
    const matters = ({ machines, place, token, credentials }: QuorumGuardInputs) => [
      machines,
      place,
      token,
      credentials,
    ];
    const isOther = !isDeepStrictEqual(matters(olds), matters(news));
    return { kind: isOther || olds.open.length > 0 || olds.drift.length > 0 ? "update" : "none" };
  },

  /** In a preview this shows the user what happens to running machines. */
  notes(olds, news) {
    const changes = machineChanges(known(olds), news.machines, platformAt(news.place).machineTraits);
    const controlPlanes = changes.filter(({ role }) => role === "controlplane").map(({ node }) => node);
    const all = controlPlanes.join(", ");
    const warnings = [
      ...changes.map(inWords),
      ...(controlPlanes.length > 1
        ? [`${all}: \`up\` refuses to change several control planes of a running cluster at once`]
        : []),
      ...takeoversOf(olds, news).map(
        ({ node, from, words }) =>
          `${node} would get the ${words} of ${from}: \`up\` refuses that while ${from} has a machine`,
      ),
      ...moves(olds.machines, news.machines).map(
        ({ node, was, is }) =>
          `${node} would get the address ${is.address} instead of ${was.address}: \`up\` refuses that while the node runs at the old one`,
      ),
    ];
    const open = olds.open.join(", ");
    return [
      ...warnings.map((text): Note => ({ text, as: "warning" })),
      ...(controlPlanes.length === 1 ? [backupNote(news.backup)] : []),
      ...(open === ""
        ? []
        : [{ text: `checks whether the change of ${open} that the last run allowed was made`, as: "info" } as const]),
    ];
  },

  /** Observes once, and never throws: if the platform does not answer, the state stays as it is. */
  async read(state, context) {
    const { place, token, machines, open } = state;
    const current = await context.currentMachines({ place, token, entries: machines }).catch(() => undefined);
    if (current === undefined) return state;
    const { machineTraits } = platformAt(place);
    const drifted = Object.keys(machines).filter((node) => {
      const [own, entry] = [current[node], machines[node]];
      if (own === undefined || entry === undefined) return false;
      return machineChanges({ [node]: own }, { [node]: entry }, machineTraits).length > 0;
    });
    // A change that was allowed and has not been made is no drift.
    const nodes = drifted.filter((node) => !open.includes(node));
    const found = Object.fromEntries(nodes.map((node) => [node, traitsOf(current[node])]));
    const drift = machineChanges(found, machines, machineTraits).map(
      ({ node, of, was, is, effect }) =>
        `${node} has the ${of} ${was}, and should have ${is}: \`up\` ${effect === "off" ? "turns it off" : "recreates it"} for that`,
    );
    return { ...state, found, drift };
  },

  migrate: (state) => ({
    ...renamed(state, { deadline: "deadlineSeconds" }),
    machines: allRenamed(state.machines, { reach: "talosAddress" }),
    place: renamed(state.place, { endpoint: "apiUrl" }),
  }),

  outcome: ({ open }) =>
    open.length === 0
      ? "no control plane is touched"
      : `etcd keeps its quorum through the change of ${open.join(", ")}`,
} satisfies ResourceOperations<QuorumGuardInputs, QuorumGuardState, QuorumGuardContext>;

export const { create, read, diff, update, remove } = engineCalls<
  QuorumGuardInputs,
  QuorumGuardState,
  QuorumGuardContext
>(operations, (context) => ({ ...nodeContext(context), currentMachines }));

function settled(inputs: QuorumGuardInputs): QuorumGuardState {
  return { ...inputs, open: [], found: {}, drift: [] };
}

/** What is known of the machines without a call. */
function known({ machines, found }: QuorumGuardState): Readonly<Record<string, MachineTraits>> {
  return { ...machines, ...found };
}

function traitsOf(machine: CurrentMachines[string] | undefined): MachineTraits {
  const { talosAddress: _, ...traits } = machine ?? { talosAddress: "" };
  return traits;
}

/** An existing machine may continue under another name. */
function takeoversOf(olds: QuorumGuardState, { machines, place }: QuorumGuardInputs) {
  const { createsMachines, machineTraits } = platformAt(place);
  return createsMachines ? takeovers(olds.machines, machines, machineTraits) : [];
}

/** The control planes that have a machine. */
function peersOf(entries: MachineEntries, current: CurrentMachines): Peer[] {
  return Object.entries(entries).flatMap(([node, { role, address }]) => {
    const talosAddress = current[node]?.talosAddress;
    return role === "controlplane" && talosAddress !== undefined ? [{ name: node, address, talosAddress }] : [];
  });
}

async function find(
  { place, token, deadlineSeconds }: QuorumGuardInputs,
  entries: MachineEntries,
  context: QuorumGuardContext,
) {
  const { clock, random } = context;
  const asked = await retryApi(() => context.currentMachines({ place, token, entries }), {
    clock,
    random,
    deadlineSeconds,
    retryable: isRetryableApiError,
  });
  if (asked.ok) return asked.value;
  const seen = (asked.error as Error).message;
  const code = platformAt(place).unansweredCode;
  throw new SluiceError({ code, what: "the machines to be known before they are changed", seen });
}

interface Moving {
  readonly node: string;
  /** Where a node is reached, if it has a machine. */
  readonly talosAddress: string | undefined;
  readonly from: string;
  readonly to: string;
}

/** The node's config would be sent to the new address, while the node is still at the old one. */
async function refuseMove(
  { node, talosAddress, from, to }: Moving,
  { credentials, hasFixedAddresses }: QuorumGuardInputs,
  { access }: QuorumGuardContext,
): Promise<void> {
  if (talosAddress === undefined) return;
  const { kind } = await access.probe(talosAddress, credentials);
  const isFixed = kind === "ours" || kind === "settling" || (kind === "maintenance" && hasFixedAddresses);
  if (isFixed) throw refusal("SLU-L105", node, `it runs at ${from}, and would move to ${to}`);
}

function refusal(code: "SLU-L105", node: string, seen: string): Error {
  const what = "the node to keep its name and address while it is in the cluster";
  const end = { node, what, state: "unchanged", attempts: 1, seconds: 0 };
  return endFailure(new SluiceError({ code, seen: `${seen}. Nothing was changed` }), end);
}
