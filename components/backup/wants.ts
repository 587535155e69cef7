// Reads chosen ranges of a stream, without keeping the stream.

interface Want {
  readonly at: number;
  readonly length: number;
  readonly take: (bytes: Buffer) => void;
  /** What was read of it so far. */
  readonly parts: Buffer[];
}

/** Ranges of a stream that are wanted. They may overlap, and each begins no earlier than where the stream was read to. */
export class Wants {
  private position = 0;
  /** Those of which nothing was read yet, the next one last. */
  private readonly waiting: Want[] = [];
  /** Those of which a part was read. */
  private partial: Want[] = [];

  /** `take` gets these bytes once all of them were read. It may want more, from there on. */
  want(at: number, length: number, take: Want["take"]): void {
    // Nearly always it is close to the next one.
    let place = this.waiting.length;
    while (place > 0 && (this.waiting[place - 1]?.at ?? 0) < at) place -= 1;
    this.waiting.splice(place, 0, { at, length, take, parts: [] });
  }

  read(chunk: Buffer): void {
    const end = this.position + chunk.length;
    const continued = this.partial;
    this.partial = [];
    for (const want of continued) this.take(want, chunk);
    for (let next = this.waiting.at(-1); next !== undefined && next.at < end; next = this.waiting.at(-1)) {
      this.waiting.pop();
      this.take(next, chunk);
    }
    this.position = end;
  }

  private take(want: Want, chunk: Buffer): void {
    const { at, length, take, parts } = want;
    const from = Math.max(0, at - this.position);
    const to = Math.min(chunk.length, at + length - this.position);
    parts.push(chunk.subarray(from, to));
    if (at + length <= this.position + chunk.length) take(Buffer.concat(parts));
    else this.partial.push(want);
  }
}
