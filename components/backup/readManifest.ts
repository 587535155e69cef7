import { z } from "zod";
import { SluiceError } from "../errors/sluiceError.ts";
import { type BackupManifest, secretsFile, snapshotFile } from "./manifest.ts";

const file = z.object({ size: z.int().positive(), sha256: z.string().regex(/^[0-9a-f]{64}$/) });

const node = z.object({
  ...{ name: z.string(), role: z.string(), address: z.string() },
  ...{ uuid: z.string().optional(), talosVersion: z.string().optional() },
  ...{ schematic: z.string().optional(), configHash: z.string().optional() },
});

/** Keys that a later version adds are ignored. */
const manifest = z.object({
  format: z.literal(1),
  takenAt: z.iso.datetime(),
  reason: z.string(),
  cluster: z.object({
    ...{ name: z.string(), id: z.string(), talosVersion: z.string(), kubernetesVersion: z.string() },
    nodes: z.array(node),
  }),
  etcd: z.object({
    ...{ node: z.string(), revision: z.int(), records: z.int(), size: z.int() },
    sha256: z.string(),
  }),
  recipients: z.array(z.string()),
  files: z.object({ [snapshotFile]: file, [secretsFile]: file }),
}) satisfies z.ZodType<BackupManifest>;

/** Throws if the text is no manifest that this version can read. `where` names it. */
export function readManifest(text: string, where: string): BackupManifest {
  const read = manifest.safeParse(parsed(text));
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  const seen = `its manifest cannot be read: ${issue?.path.join(".") || "it"}: ${issue?.message}`;
  throw new SluiceError({ code: "SLU-B103", where, seen });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
