/** A gate whose conditions were met, while its stability window passes. */
export class OpenGate {
  /** "NodesReady" */
  readonly name: string;
  /** Resolves once the window has passed without a break. Rejects if the gate has failed since it opened. */
  readonly proof: Promise<void>;
  private text = "must stay open for its stability window";
  private readonly listeners = new Set<(text: string) => void>();

  constructor(name: string, proof: Promise<void>) {
    this.name = name;
    this.proof = proof;
    // It is only awaited by the gates behind this one, if there are any.
    proof.catch(() => undefined);
  }

  /** What its window waits for: nothing but time, or conditions that are no longer met. */
  report(text: string): void {
    this.text = text;
    for (const listener of this.listeners) listener(text);
  }

  /** Waits for the proof, and passes on what the window waits for. */
  async prove(report: (text: string) => void): Promise<void> {
    const listener = (text: string) => report(`${this.name} has opened: ${text}`);
    listener(this.text);
    this.listeners.add(listener);
    try {
      await this.proof;
    } finally {
      this.listeners.delete(listener);
    }
  }
}
