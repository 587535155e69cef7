// The lab's timeline: what became true in it, and when.

export interface Fact {
  /** Seconds since the lab started. */
  readonly at: number;
  readonly subject: string;
  readonly what: string;
  readonly value: string;
  readonly detail?: Readonly<Record<string, string>>;
}

export interface Timeline {
  /** When the lab started, in milliseconds since 1970. */
  readonly started: number;
  readonly facts: readonly Fact[];
}
