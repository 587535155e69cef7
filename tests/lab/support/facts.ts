// The facts of a lab as they come, and waits for them: a clock is used only for the deadline.

/** One thing that became true. */
export interface Fact {
  readonly seq: number;
  /** Seconds since the lab started. */
  readonly at: number;
  readonly subject: string;
  readonly what: string;
  readonly value: string;
  readonly detail?: Readonly<Record<string, string>>;
}

/** What a fact must have; what is left out may be anything. */
export interface Wanted {
  readonly subject?: string;
  readonly what: string;
  readonly value?: string;
  readonly detail?: Readonly<Record<string, string>>;
  /** Only facts that came later than this one. */
  readonly after?: Fact | undefined;
}

interface Waiting {
  readonly wanted: Wanted;
  readonly resolve: (fact: Fact) => void;
  readonly reject: (why: Error) => void;
}

/** Longer than anything takes with the profile `fast` on a busy machine. */
const patience = 60_000;

export class Facts {
  readonly all: Fact[] = [];
  private readonly waiting = new Set<Waiting>();
  private over: string | undefined;
  private rest = "";

  /** Takes lines of JSON, cut anywhere. */
  hear(text: string): void {
    const lines = `${this.rest}${text}`.split("\n");
    this.rest = lines.pop() ?? "";
    for (const line of lines) if (line !== "") this.add(JSON.parse(line));
  }

  /** There will be no more facts: all waits fail. */
  end(why: string): void {
    this.over = why;
    for (const { wanted, reject } of this.waiting) reject(new Error(`no fact ${told(wanted)}: ${why}`));
    this.waiting.clear();
  }

  /** The first such fact, which may have come already. */
  until(wanted: Wanted, milliseconds = patience): Promise<Fact> {
    const found = this.all.find((fact) => fits(fact, wanted));
    if (found !== undefined) return Promise.resolve(found);
    if (this.over !== undefined) return Promise.reject(new Error(`no fact ${told(wanted)}: ${this.over}`));
    return new Promise((done, fail) => {
      const timer = setTimeout(() => {
        this.waiting.delete(entry);
        const near = this.all.filter(({ subject }) => subject === (wanted.subject ?? subject)).slice(-5);
        const last = near.map(({ subject, what, value }) => `${subject} ${what} ${value}`).join("; ");
        fail(
          new Error(`waited ${milliseconds / 1000} s in vain for ${told(wanted)}. The last facts: ${last || "none"}`),
        );
      }, milliseconds);
      const settle =
        <T>(how: (result: T) => void) =>
        (result: T) => {
          clearTimeout(timer);
          how(result);
        };
      const entry: Waiting = { wanted, resolve: settle(done), reject: settle(fail) };
      this.waiting.add(entry);
    });
  }

  private add(fact: Fact): void {
    this.all.push(fact);
    for (const entry of this.waiting) {
      if (!fits(fact, entry.wanted)) continue;
      this.waiting.delete(entry);
      entry.resolve(fact);
    }
  }
}

function fits(fact: Fact, { subject, what, value, detail = {}, after }: Wanted): boolean {
  return (
    fact.what === what &&
    (subject === undefined || fact.subject === subject) &&
    (value === undefined || fact.value === value) &&
    (after === undefined || fact.seq > after.seq) &&
    Object.entries(detail).every(([key, text]) => fact.detail?.[key] === text)
  );
}

function told({ subject = "anything", what, value = "any", detail, after }: Wanted): string {
  const more = detail === undefined ? "" : ` ${JSON.stringify(detail)}`;
  return `'${subject} ${what} ${value}'${more}${after === undefined ? "" : ` after fact ${after.seq}`}`;
}
