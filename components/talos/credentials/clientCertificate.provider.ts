// The operations of a ClientCertificate. They call nothing but the clock.

import type { ResourceInputs } from "../../engine/checkoutResource.ts";
import type { ResourceContext } from "../../engine/resourceContext.ts";
import { engineCalls, type ResourceOperations } from "../../engine/resourceProvider.ts";
import { SluiceError } from "../../errors/sluiceError.ts";
import { count } from "../../model/count.ts";
import { daysUntil } from "./certificateLife.ts";
import type { ClientCertificateArgs } from "./clientCertificate.ts";

export type CertificateInputs = ResourceInputs<ClientCertificateArgs>;

export interface CertificateState extends CertificateInputs {
  /** Why the expiry is near, as text. */
  readonly drift: readonly string[];
}

export interface CertificateContext extends Pick<ResourceContext, "note"> {
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

export const operations = {
  id: ({ file }) => file,

  /** The resource that issues the certificate was updated before this one: a certificate that is near its expiry now was not renewed. */
  async create(inputs, { now }) {
    const [seen] = nearEnd(inputs, now());
    if (seen === undefined) return { ...inputs, drift: [] };
    const what = `a certificate for ${inputs.renewDays} days`;
    throw new SluiceError({ code: "SLU-T213", where: inputs.file, what, seen });
  },

  difference(olds, news) {
    const isOther = olds.drift.length > 0 || olds.ends !== news.ends || olds.renewDays !== news.renewDays;
    return { kind: isOther ? "update" : "none" };
  },

  async read(state, { now, note }) {
    const drift = nearEnd(state, now());
    if (drift.length > 0) await note(`${state.file}: ${drift.join("; ")}`, "warning");
    return { ...state, drift };
  },
} satisfies ResourceOperations<CertificateInputs, CertificateState, CertificateContext>;

export const { create, read, diff, update, remove } = engineCalls<
  CertificateInputs,
  CertificateState,
  CertificateContext
>(operations, (context) => ({
  ...context,
  now: Date.now,
}));

function nearEnd({ ends, renewDays }: CertificateInputs, now: number): readonly string[] {
  if (ends === undefined) return [];
  const days = daysUntil(ends, now);
  if (days >= renewDays) return [];
  const date = ends.slice(0, "2027-11-18".length);
  return [
    days < 0
      ? `its client certificate expired on ${date}`
      : `its client certificate expires on ${date}, in ${count(days, "day")}`,
  ];
}
