import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createSecureServer, type Http2SecureServer, type ServerHttp2Stream } from "node:http2";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { promisify } from "node:util";
import { gunzipSync } from "node:zlib";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import {
  archive,
  archiveFile,
  programFiles,
  startFile,
  startScript,
} from "../../../components/backup/inCluster/bundle.ts";
import { snapshotOf } from "../../../components/backup/inCluster/snapshotCall.ts";
import { repeatableFile } from "../../../components/backup/repeatableFile.ts";
import { secretsText } from "../../support/secretsFixture.ts";
import { certificates } from "../kubernetes/certificates.ts";
import { snapshot } from "./backups.ts";

const { ca, server: own } = certificates;
const client = { ca, crt: own.cert, key: own.key };

/** A message of gRPC with the fields of `common.Data`: metadata, then the bytes. */
function message(bytes: Buffer): Buffer {
  const metadata = Buffer.from([0x0a, 3, 0x0a, 1, 0x78]);
  const length: number[] = [];
  for (let left = bytes.length; ; left = Math.floor(left / 128)) {
    length.push(left < 128 ? left : (left % 128) | 0x80);
    if (left < 128) break;
  }
  const content = Buffer.concat([metadata, Buffer.from([0x12, ...length]), bytes]);
  const frame = Buffer.alloc(5);
  frame.writeUInt32BE(content.length, 1);
  return Buffer.concat([frame, content]);
}

describe("the snapshot that a pod takes (S7.3)", () => {
  let server: Http2SecureServer;
  let respond: (stream: ServerHttp2Stream) => void;
  let asked: string[];
  beforeAll(async () => {
    server = createSecureServer({ ...own, ca, requestCert: true, rejectUnauthorized: true });
    server.on("stream", (stream, headers) => {
      asked.push(String(headers[":path"]));
      respond(stream);
    });
    server.on("sessionError", () => undefined);
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  });
  afterAll(() => void server.close());
  afterEach(() => {
    asked = [];
  });
  asked = [];

  const port = () => (server.address() as { readonly port: number }).port;
  const take = () => buffer(snapshotOf("127.0.0.1", client, port()));
  const withTrailers = (stream: ServerHttp2Stream, trailers: Record<string, string>, chunks: readonly Buffer[]) => {
    stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
    stream.on("wantTrailers", () => stream.sendTrailers(trailers));
    for (const chunk of chunks) stream.write(chunk);
    stream.end();
  };

  test("is all that Talos streamed, however it is cut", async () => {
    const parts = [snapshot.subarray(0, 70_000), snapshot.subarray(70_000, 70_001), snapshot.subarray(70_001)];
    const sent = Buffer.concat(parts.map(message));
    respond = (stream) =>
      withTrailers(stream, { "grpc-status": "0" }, [
        sent.subarray(0, 3),
        sent.subarray(3, 100_000),
        sent.subarray(100_000),
      ]);
    expect((await take()).equals(snapshot)).toBe(true);
    expect(asked).toEqual(["/machine.MachineService/EtcdSnapshot"]);
  });

  test("fails in Talos' own words, before or after data", async () => {
    respond = (stream) =>
      stream.respond(
        { ":status": 200, "content-type": "application/grpc", "grpc-status": "7", "grpc-message": "not%20authorized" },
        { endStream: true },
      );
    await expect(take()).rejects.toThrow("Talos answers not authorized");
    const trailers = { "grpc-status": "14", "grpc-message": "etcd%3A gone" };
    respond = (stream) => withTrailers(stream, trailers, [message(snapshot.subarray(0, 1_000))]);
    await expect(take()).rejects.toThrow("Talos answers etcd: gone");
  });

  test("fails if the connection breaks in the middle", async () => {
    respond = (stream) => {
      stream.respond({ ":status": 200, "content-type": "application/grpc" });
      stream.write(message(snapshot.subarray(0, 1_000)), () => stream.session?.destroy());
    };
    await expect(take()).rejects.toThrow();
  });
});

describe("the program in the cluster (S7.3)", () => {
  test("has everything that it imports, and nothing of a library but the signatures of S3", () => {
    const packages = Object.keys(programFiles()).filter((file) => file.startsWith("node_modules/"));
    expect(packages.map((file) => file.split("/")[1])).toEqual(["aws4fetch", "aws4fetch"]);
    // Far below what a ConfigMap may have.
    expect(archive().length).toBeLessThan(100_000);
    expect(archive().equals(archive())).toBe(true);
  });

  test("starts with Node alone from what the ConfigMap has, and reports what is missing", async () => {
    const folder = mkdtempSync(join(tmpdir(), "sluice-pod-"));
    try {
      mkdirSync(join(folder, "backup"));
      writeFileSync(join(folder, "backup", archiveFile), archive());
      const script = startScript().replace("/tmp/program", join(folder, "program"));
      writeFileSync(join(folder, "backup", startFile), script);
      const started = promisify(execFile)(process.execPath, [join(folder, "backup", startFile)], { env: {} });
      // It has found all of its own files, and then none of the pod's.
      await expect(started).rejects.toThrow(/ENOENT: .*'\/backup\/plan\.json'/);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe("the machine secrets that a pod stores (S7.3)", () => {
  const recipients = ["age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p"];

  test("are the same file each time, and another one for other secrets or other keys", async () => {
    const file = await repeatableFile(secretsText, recipients);
    expect(file.equals(await repeatableFile(secretsText, recipients))).toBe(true);
    expect(file.equals(await repeatableFile(`${secretsText}\n`, recipients))).toBe(false);
    expect(file.equals(await repeatableFile(secretsText, [...recipients, ...recipients]))).toBe(false);
    expect(gunzipSync(archive()).toString()).not.toContain("AGE-SECRET-KEY-1");
  });
});
