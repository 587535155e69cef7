// What the engine asks of a ClientCertificate. Loaded from the checkout, so that the current code runs and not what a state keeps.
import { failureMessage } from "../errors/failureMessage.ts";
import { engineRow } from "../gates/progress.ts";
import { daysUntil } from "./certificateLife.ts";

export interface CertificateInputs {
  readonly file: string;
  readonly ends?: string;
  readonly renewDays: number;
  /** The resource's own URN, for its row. */
  readonly row: string;
}

export interface CertificateState extends CertificateInputs {
  /** That its end is near, in words. */
  readonly drift: readonly string[];
}

/** All with the time given, in milliseconds since 1970. None asks anybody. */
export const operations = {
  /** Whoever makes the certificate has had its turn before: one that is near its end now stays so. */
  proven(inputs: CertificateInputs, now: number): CertificateState {
    const [seen] = nearEnd(inputs, now);
    if (seen === undefined) return { ...inputs, drift: [] };
    throw new Error(
      failureMessage({
        code: "SLU-T213",
        where: inputs.file,
        what: `a certificate for ${inputs.renewDays} days`,
        seen,
      }),
    );
  },

  diff(olds: CertificateState, news: CertificateInputs) {
    return { changes: olds.drift.length > 0 || olds.ends !== news.ends || olds.renewDays !== news.renewDays };
  },

  read(props: CertificateState, now: number): CertificateState {
    return { ...props, drift: nearEnd(props, now) };
  },
};

export const create = async (inputs: CertificateInputs) => ({
  id: inputs.file,
  outs: operations.proven(inputs, Date.now()),
});
export const update = async (_id: string, _olds: CertificateState, news: CertificateInputs) => ({
  outs: operations.proven(news, Date.now()),
});
export const diff = async (_id: string, olds: CertificateState, news: CertificateInputs) => operations.diff(olds, news);
export const read = async (id: string, state: CertificateState) => {
  const props = operations.read(state, Date.now());
  if (props.drift.length > 0) {
    const row = engineRow(props.row);
    await row.note(`${props.file}: ${props.drift.join("; ")}`, "warning");
    row.close();
  }
  return { id, props };
};

function nearEnd({ ends, renewDays }: CertificateInputs, now: number): readonly string[] {
  if (ends === undefined) return [];
  const days = daysUntil(ends, now);
  if (days >= renewDays) return [];
  const date = ends.slice(0, "2027-11-18".length);
  return [
    days < 0
      ? `its client's certificate ended on ${date}`
      : `its client's certificate ends on ${date}, in ${days} ${days === 1 ? "day" : "days"}`,
  ];
}
