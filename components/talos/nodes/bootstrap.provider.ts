// The operations of a Bootstrap.
import { isDeepStrictEqual } from "node:util";
import type { ResourceInputs } from "../../engine/checkoutResource.ts";
import { isUnknown } from "../../engine/isUnknown.ts";
import { allRenamed, renamed } from "../../engine/renamed.ts";
import { engineCalls, type ResourceOperations } from "../../engine/resourceProvider.ts";
import { SluiceError } from "../../errors/sluiceError.ts";
import { resultWithin } from "../../waiting/deadline.ts";
import { type NodeResourceContext, nodeContext } from "../access/nodeAccess.ts";
import { lookAtEtcd } from "../etcd/etcdPresence.ts";
import type { BootstrapArgs } from "./bootstrap.ts";
import { bootstrap } from "./bootstrapRun.ts";

export type BootstrapInputs = ResourceInputs<BootstrapArgs>;

export interface BootstrapState extends BootstrapInputs {
  /** False if a later observation found no etcd on any control plane. */
  readonly bootstrapped: boolean;
}

/** Seconds for which a cluster that was bootstrapped once must be without etcd: members that reboot are for a while as if they never were. */
const lostAfterSeconds = 30;
/** Seconds for all that a refresh asks. */
const readDeadlineSeconds = 5;

export const operations = {
  id: () => "bootstrap",

  async create(inputs, context) {
    if (inputs.adopts) return await adopt(inputs, context);
    await bootstrap(inputs, context);
    return { ...inputs, bootstrapped: true };
  },

  /**
   * Where etcd is, on whichever control plane, nothing is done, and where it is lost, the user decides. Those that are in the list no more count, too: until
   * they have left, all that there is may be on them.
   */
  async update(olds, news, context) {
    if (news.adopts) return await adopt(news, context);
    const leaving = olds.controlPlanes.filter((was) => !news.controlPlanes.some(({ name }) => name === was.name));
    const all = { ...news, controlPlanes: [...news.controlPlanes, ...leaving] };
    await bootstrap(all, context, { lostAfterSeconds });
    return { ...news, bootstrapped: true };
  },

  difference(olds, news) {
    const matters = ({ controlPlanes, credentials }: BootstrapInputs) => [controlPlanes, credentials];
    const hasRejoined = !isUnknown(news.rejoined) && (olds.rejoined ?? 0) !== (news.rejoined ?? 0);
    const isSame = isDeepStrictEqual(matters(olds), matters(news)) && !hasRejoined;
    return { kind: olds.bootstrapped && isSame ? "none" : "update" };
  },

  /** Has a time limit, and never throws. etcd is gone only if every control plane reports that it has none. */
  async read(state, context) {
    const looks = state.controlPlanes.map((node) => lookAtEtcd(node, state.credentials, context));
    const seen = await resultWithin(context.clock, readDeadlineSeconds * 1000, Promise.all(looks));
    const isGone = seen?.every(({ kind }) => kind === "none") ?? false;
    if (isGone)
      await context.note("no control plane has an etcd: the cluster is gone, or its nodes were reset", "warning");
    return { ...state, bootstrapped: !isGone };
  },

  migrate: (state) => ({
    ...renamed(state, { deadline: "deadlineSeconds" }),
    controlPlanes: allRenamed(state.controlPlanes, { node: "name", endpoint: "talosAddress" }),
  }),

  outcome: () => "etcd runs",
} satisfies ResourceOperations<BootstrapInputs, BootstrapState, NodeResourceContext>;

/** Of a cluster that has an etcd. Whether that is healthy is for the gate behind this. */
async function adopt({ adopts: _, ...inputs }: BootstrapInputs, context: NodeResourceContext): Promise<BootstrapState> {
  const { controlPlanes, credentials } = inputs;
  const looks = await Promise.all(controlPlanes.map((node) => lookAtEtcd(node, credentials, context)));
  if (looks.some(({ kind }) => kind === "there")) return { ...inputs, bootstrapped: true };
  const doubts = looks.flatMap((look) => (look.kind === "unknown" ? [look.why] : []));
  throw new SluiceError({
    code: "SLU-A101",
    where: controlPlanes.map(({ name }) => name).join(", "),
    what: "the etcd of the running cluster",
    seen: doubts.join("; ") || "no control plane has an etcd",
  });
}

export const { create, read, diff, update, remove } = engineCalls<BootstrapInputs, BootstrapState, NodeResourceContext>(
  operations,
  nodeContext,
);
