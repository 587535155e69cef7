// What a gate waits for, in the resource's own row of `pulumi up` while it waits.
import { credentials, Metadata } from "@grpc/grpc-js";
import { EngineClient } from "@pulumi/pulumi/proto/engine_grpc_pb.js";
import messages from "@pulumi/pulumi/proto/engine_pb.js";
import type { Clock } from "./clock.ts";

/** Milliseconds between two texts: enough to follow, and no burden for the engine. */
const interval = 300;
/** Milliseconds that the engine, which runs on this machine, may take to answer. */
const patience = 2_000;

/** Hands on the newest text, each only once, and never more of them than a person can read. */
export class Progress {
  private readonly send: (text: string) => void;
  private readonly clock: Clock;
  private sent: string | undefined;
  private waiting: { text: string; readonly takeBack: () => void } | undefined;
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
    const takeBack = this.clock.after(delay, () => {
      const newest = this.waiting?.text ?? text;
      this.waiting = undefined;
      if (newest !== this.sent) this.hand(newest);
    });
    this.waiting = { text, takeBack };
  }

  /** Nothing is shown from now on. */
  end(): void {
    this.isOver = true;
    this.waiting?.takeBack();
    this.waiting = undefined;
  }

  private hand(text: string): void {
    this.sent = text;
    this.notBefore = this.clock.now() + interval;
    this.send(text);
  }
}

/** The row of a resource in what the engine shows. */
export interface EngineRow {
  /** Resolves when the engine has it. A text that does not arrive is no reason for anything to stop. */
  readonly send: (text: string) => Promise<void>;
  /** The same for what stays after the run, among its diagnostics. */
  readonly note: (text: string, severity: "info" | "warning") => Promise<void>;
  readonly close: () => void;
}

/** The engine gives the process of a dynamic provider its address as the first argument. */
export function engineRow(urn: string): EngineRow {
  const [, , address] = process.argv;
  if (address === undefined) throw new Error("this process was not started by the engine");
  const engine = new EngineClient(address, credentials.createInsecure());
  const log = (text: string, severity: "info" | "warning", isEphemeral: boolean) => {
    const request = new messages.LogRequest();
    request.setSeverity(severity === "info" ? messages.LogSeverity.INFO : messages.LogSeverity.WARNING);
    request.setMessage(text);
    request.setUrn(urn);
    request.setEphemeral(isEphemeral);
    const options = { deadline: Date.now() + patience };
    return new Promise<void>((done) => {
      try {
        engine.log(request, new Metadata(), options, () => done());
      } catch {
        done(); // it is closed
      }
    });
  };
  return {
    send: (text) => log(text, "info", true),
    note: (text, severity) => log(text, severity, false),
    close: () => engine.close(),
  };
}
