import { credentials, Metadata } from "@grpc/grpc-js";
import { EngineClient } from "@pulumi/pulumi/proto/engine_grpc_pb.js";
import messages from "@pulumi/pulumi/proto/engine_pb.js";

/** Milliseconds that the engine, which runs on this machine, may take to answer. */
const patience = 2_000;

/** Says something of a resource that stays after the run, among its diagnostics. Resolves when the engine has it, or cannot be told. */
export function engineLog(row: string, text: string, severity: "info" | "warning"): Promise<void> {
  const [, , address] = process.argv;
  if (address === undefined) throw new Error("this process was not started by the engine");
  const engine = new EngineClient(address, credentials.createInsecure());
  const request = new messages.LogRequest();
  request.setSeverity(severity === "info" ? messages.LogSeverity.INFO : messages.LogSeverity.WARNING);
  request.setMessage(text);
  request.setUrn(row);
  return new Promise((done) => {
    engine.log(request, new Metadata(), { deadline: Date.now() + patience }, () => {
      engine.close();
      done();
    });
  });
}
