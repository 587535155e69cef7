// Shows in the resource's own row of `pulumi up` what it is waiting for.
import { credentials, Metadata } from "@grpc/grpc-js";
import { EngineClient } from "@pulumi/pulumi/proto/engine_grpc_pb.js";
import messages from "@pulumi/pulumi/proto/engine_pb.js";
import type { Clock } from "../waiting/clock.ts";

/** Milliseconds between two texts: often enough to follow, and no load for the engine. */
const intervalMs = 300;
/** Milliseconds that the engine, which runs on this host, may take to answer. */
const answerTimeoutMs = 2_000;

/** Sends the newest text, never the same one twice in a row, and no faster than a user can read. */
export class Progress {
  private readonly send: (text: string) => void;
  private readonly clock: Clock;
  private sent: string | undefined;
  private waiting: { text: string; readonly cancel: () => void } | undefined;
  private notBefore = Number.NEGATIVE_INFINITY;
  private isOver = false;

  constructor(send: (text: string) => void, clock: Clock) {
    this.send = send;
    this.clock = clock;
  }

  show(text: string): void {
    if (this.isOver) return;
    if (this.waiting !== undefined) {
      this.waiting.text = text;
      return;
    }
    if (text === this.sent) return;
    const delay = this.notBefore - this.clock.now();
    if (delay <= 0) {
      this.hand(text);
      return;
    }
    const cancel = this.clock.after(delay, () => {
      const newest = this.waiting?.text ?? text;
      this.waiting = undefined;
      if (newest !== this.sent) this.hand(newest);
    });
    this.waiting = { text, cancel };
  }

  /** Ends the progress: no further text is shown. */
  end(): void {
    this.isOver = true;
    this.waiting?.cancel();
    this.waiting = undefined;
  }

  private hand(text: string): void {
    this.sent = text;
    this.notBefore = this.clock.now() + intervalMs;
    this.send(text);
  }
}

const { INFO: info, WARNING: warning, ERROR: error } = messages.LogSeverity;
const severities = { info, warning, error };

/** The row of a resource in the engine's display. */
export interface EngineRow {
  /** Resolves when the engine has received the text. A text that is lost never fails the operation. */
  readonly send: (text: string) => Promise<void>;
  /** The same for text that remains after the run, among the diagnostics. */
  readonly note: (text: string, severity: "info" | "warning") => Promise<void>;
  /** Adds an error; whether the engine has received it. */
  readonly fail: (text: string) => Promise<boolean>;
  readonly close: () => void;
}

/**
 * The engine gives the process of a dynamic provider its address as the first argument. Connects with the first text. Without a URN it is the row of the
 * stack.
 */
export function engineRow(urn: string, address = process.argv[2]): EngineRow {
  let engine: EngineClient | undefined;
  let isClosed = false;
  const log = (text: string, severity: keyof typeof severities, isEphemeral: boolean) => {
    const request = new messages.LogRequest();
    request.setSeverity(severities[severity]);
    request.setMessage(text);
    request.setUrn(urn);
    request.setEphemeral(isEphemeral);
    if (isClosed) return Promise.resolve(false);
    engine ??= connected(address);
    const client = engine;
    const options = { deadline: Date.now() + answerTimeoutMs };
    return new Promise<boolean>((done) =>
      client.log(request, new Metadata(), options, (error) => done(error === null)),
    );
  };
  return {
    send: async (text) => void (await log(text, "info", true)),
    note: async (text, severity) => void (await log(text, severity, false)),
    fail: (text) => log(text, "error", false),
    close() {
      isClosed = true;
      engine?.close();
    },
  };
}

function connected(address: string | undefined): EngineClient {
  if (address === undefined) throw new Error("this process was not started by the engine");
  return new EngineClient(address, credentials.createInsecure());
}
