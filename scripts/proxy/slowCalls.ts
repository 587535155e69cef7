// Reports calls that have been waiting long for an answer, for whoever watches the run.

import type { Clock } from "../../components/waiting/clock.ts";

/** Seconds after which a call is reported, and again each time that it has taken twice as long. */
const firstMs = 5_000;

interface OpenCall {
  readonly name: string;
  readonly began: number;
  /** How often it failed, and the last failure. */
  failures: number;
  reason: string;
  /** The duration at which it is reported next. */
  dueMs: number;
}

/** A call in progress. */
export interface TrackedCall {
  /** An attempt failed, and another one follows. */
  readonly failed: (reason: string) => void;
  readonly end: (isAnswered: boolean) => void;
}

export class SlowCalls {
  private readonly title: string;
  private readonly clock: Clock;
  private readonly report: (text: string) => void;
  private readonly open = new Set<OpenCall>();

  /** `title` is the API's name: "Hetzner". */
  constructor(title: string, { clock, report }: { readonly clock: Clock; readonly report: (text: string) => void }) {
    this.title = title;
    this.clock = clock;
    this.report = report;
  }

  begin(name: string): TrackedCall {
    const call: OpenCall = { name, began: this.clock.now(), failures: 0, reason: "", dueMs: firstMs };
    this.open.add(call);
    const check = () => {
      this.reportDue();
      cancel = this.clock.after(call.began + call.dueMs - this.clock.now(), check);
    };
    let cancel = this.clock.after(firstMs, check);
    return {
      failed: (reason) => {
        call.failures += 1;
        call.reason = reason;
      },
      end: (isAnswered) => {
        cancel();
        this.open.delete(call);
        const isLast = [...this.open].every(({ dueMs }) => dueMs === firstMs);
        if (isAnswered && isLast && call.dueMs > firstMs) {
          this.report(`${this.title} answered ${name} after ${this.seconds(call)} s`);
        }
      },
    };
  }

  /** One text for all calls that are due: in an outage there are many. */
  private reportDue(): void {
    const due = [...this.open].filter((call) => this.clock.now() - call.began >= call.dueMs);
    for (const call of due) call.dueMs *= 2;
    const [oldest] = due;
    if (oldest === undefined) return;
    const more = due.length === 1 ? "" : ` (and ${due.length - 1} more)`;
    this.report(`${this.described(oldest)}${more}`);
  }

  private described(call: OpenCall): string {
    const { name, failures, reason } = call;
    const seconds = this.seconds(call);
    if (failures === 0) return `${this.title} has not answered ${name} for ${seconds} s`;
    const times = failures === 1 ? "once" : `${failures} times`;
    return `${this.title}: ${name} failed ${times} in ${seconds} s, and is repeated: ${reason}`;
  }

  private seconds({ began }: OpenCall): number {
    return Math.round((this.clock.now() - began) / 1000);
  }
}
