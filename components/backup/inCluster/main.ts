// Takes one backup from inside the cluster. It runs in a pod on a control plane with Node and no package (bundle.ts), with a certificate that may take snapshots
// and nothing else.
import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { S3Bucket } from "../../api/s3Api.ts";
import { decodePem, standardKey } from "../../talos/client/pem.ts";
import { systemClock } from "../../waiting/clock.ts";
import { S3Target } from "../s3Target.ts";
import { inMegabytes, takeBackup } from "../takeBackup.ts";
import { type InClusterPlan, inClusterFiles } from "./plan.ts";
import { type ApiCertificate, snapshotOf } from "./snapshotCall.ts";

const { HOST_IP = "", NODE_NAME = "", S3_ACCESS_KEY = "", S3_SECRET_KEY = "", REASON = "on schedule" } = process.env;

const plan: InClusterPlan = JSON.parse(await readFile(inClusterFiles.plan, "utf8"));
const certificate = certificateIn(await readFile(inClusterFiles.talosconfig, "utf8"));
const { s3, prefix, ...rest } = plan;
const bucket = new S3Bucket(s3, { accessKey: S3_ACCESS_KEY, secretKey: S3_SECRET_KEY });
try {
  const { name, manifest, removed, problem } = await takeBackup({
    ...rest,
    sources: [{ node: NODE_NAME, chunks: () => snapshotOf(HOST_IP, certificate) }],
    secrets: { encrypted: await readFile(inClusterFiles.secrets) },
    reason: REASON,
    target: new S3Target(bucket, prefix, systemClock),
    temporary: inClusterFiles.temporary,
    now: Date.now,
    report: () => undefined,
  });
  const { revision, size } = manifest.etcd;
  console.log(`backup ${name}: revision ${revision}, ${inMegabytes(size)}, verified and stored`);
  if (removed.length > 0) console.log(`deleted, because there are newer ones: ${removed.join(", ")}`);
  if (problem !== undefined) console.log(`old backups could not be deleted: ${problem}`);
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 1;
}

/** From a talosconfig as Talos writes it for pods: one context, whose values are base64 in lines of their own. */
function certificateIn(talosconfig: string): ApiCertificate {
  const value = (key: string) =>
    new RegExp(`^\\s+${key}: ["']?([A-Za-z0-9+/=]+)["']?\\s*$`, "m").exec(talosconfig)?.[1] ?? "";
  const [ca, crt] = [value("ca"), value("crt")].map((text) => decodePem(text).toString()) as [string, string];
  // Throws where there is none, with what is wrong.
  new X509Certificate(crt);
  return { ca, crt, key: standardKey(value("key")).toString() };
}
