// Calls EtcdSnapshot of Talos' API with nothing but Node: one gRPC call whose request is empty, and whose answers have one field that matters.
import { connect } from "node:http2";
import type { Chunks } from "../ageFile.ts";

/** A certificate for Talos' API, as PEM. */
export interface ApiCertificate {
  readonly ca: string;
  readonly crt: string;
  readonly key: string;
}

/** An empty message: not compressed, with no length. */
const nothing = Buffer.alloc(5);
const frameLength = 5;
/** Of `common.Data`: the field `bytes`, which is length-delimited. */
const bytesTag = (2 << 3) | 2;

/** Milliseconds without any data after which the call counts as failed. */
const silenceMs = 30_000;

/** The snapshot of the node at this address. Rejects with Talos' own words. */
export async function* snapshotOf(
  address: string,
  { ca, crt, key }: ApiCertificate,
  port = 50_000,
): AsyncGenerator<Uint8Array> {
  const session = connect(`https://${address}:${port}`, { ca, cert: crt, key });
  const failed = new Promise<never>((_, fail) => session.once("error", fail));
  // It is only awaited where something else is, too.
  failed.catch(() => undefined);
  try {
    const stream = session.request({
      ":method": "POST",
      ":path": "/machine.MachineService/EtcdSnapshot",
      "content-type": "application/grpc",
      te: "trailers",
    });
    stream.setTimeout(silenceMs, () => stream.destroy(new Error(`nothing within ${silenceMs / 1000} s`)));
    let status: string | undefined;
    let words = "";
    const note = (headers: Readonly<Record<string, unknown>>) => {
      status = (headers["grpc-status"] as string | undefined) ?? status;
      words = decodeURIComponent(String(headers["grpc-message"] ?? words));
    };
    // An error without any answer is in the first headers.
    stream.on("response", note).on("trailers", note).end(nothing);
    yield* untilFailed(messages(stream), failed);
    if (status !== "0") throw new Error(`Talos answers ${words || `status ${status ?? "none"}`}`);
  } finally {
    session.destroy();
  }
}

/** A broken connection does not end a stream by itself. */
async function* untilFailed(chunks: Chunks, failed: Promise<never>): AsyncGenerator<Uint8Array> {
  const iterator = chunks[Symbol.asyncIterator]();
  for (;;) {
    const next = await Promise.race([iterator.next(), failed]);
    if (next.done) return;
    yield next.value;
  }
}

/** The field of each message. */
async function* messages(stream: Chunks): AsyncGenerator<Uint8Array> {
  let waiting = Buffer.alloc(0);
  for await (const chunk of stream) {
    waiting = Buffer.concat([waiting, chunk]);
    for (;;) {
      if (waiting.length < frameLength) break;
      const end = frameLength + waiting.readUInt32BE(1);
      if (waiting.length < end) break;
      yield bytesIn(waiting.subarray(frameLength, end));
      waiting = waiting.subarray(end);
    }
  }
  if (waiting.length > 0) throw new Error("the answer is cut off");
}

/** All fields of the message are length-delimited. */
function bytesIn(message: Buffer): Buffer {
  for (let at = 0; at < message.length; ) {
    const tag = message[at] ?? 0;
    const [length, start] = varint(message, at + 1);
    if (tag === bytesTag) return message.subarray(start, start + length);
    at = start + length;
  }
  return Buffer.alloc(0);
}

function varint(bytes: Buffer, from: number): readonly [value: number, next: number] {
  let [value, at] = [0, from];
  for (let shift = 0; ; shift += 7) {
    const byte = bytes[at++] ?? 0;
    value += (byte & 0x7f) * 2 ** shift;
    if (byte < 0x80) return [value, at];
  }
}
