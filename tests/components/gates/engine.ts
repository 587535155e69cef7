import { Server, ServerCredentials } from "@grpc/grpc-js";
import { EngineService } from "@pulumi/pulumi/proto/engine_grpc_pb.js";
import messages, { type LogRequest } from "@pulumi/pulumi/proto/engine_pb.js";
import empty from "google-protobuf/google/protobuf/empty_pb.js";

/** The part of the engine that shows rows, and this process as one that the engine has started. */
export class Engine {
  /** Row and text of everything that was shown, in order. */
  readonly told: string[] = [];
  /** The same of warnings. */
  readonly warned: string[] = [];
  private readonly server = new Server();
  private readonly address = process.argv[2];

  async start(): Promise<void> {
    this.server.addService(EngineService, {
      log: (call: { readonly request: LogRequest }, done: (error: null, answer: unknown) => void) => {
        const { urn, message, ephemeral, severity } = call.request.toObject();
        const told = `${urn}${ephemeral ? "" : " for good"}: ${message}`;
        this.told.push(told);
        if (severity === messages.LogSeverity.WARNING) this.warned.push(told);
        done(null, new empty.Empty());
      },
    });
    const port = await new Promise<number>((done, fail) =>
      this.server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) =>
        error === null ? done(bound) : fail(error),
      ),
    );
    process.argv[2] = `127.0.0.1:${port}`;
  }

  stop(): void {
    this.server.forceShutdown();
    if (this.address === undefined) process.argv.splice(2, 1);
    else process.argv[2] = this.address;
  }
}
