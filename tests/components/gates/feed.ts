import { Notifier } from "../../../components/waiting/notifier.ts";

/** Observations that a test provides, one after another. */
export class Feed<Observation> {
  /** Whether there is an observer. */
  watched = false;
  private readonly said: Observation[] = [];
  private notifier: Notifier | undefined;

  say(observation: Observation): void {
    this.said.push(observation);
    this.notifier?.notify();
  }

  async *observe(signal: AbortSignal): AsyncGenerator<Observation> {
    const notifier = new Notifier(signal);
    this.notifier = notifier;
    this.watched = true;
    notifier.notify();
    try {
      while (await notifier.next()) while (this.said.length > 0) yield this.said.shift() as Observation;
    } finally {
      this.watched = false;
    }
  }
}
