// A built tool in the cache: tools/<name>/<key>/ with its programs and entry.json, which has their hashes.
import { createHash } from "node:crypto";
import { createReadStream, type Stats } from "node:fs";
import { mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { cacheFolder } from "../base/paths.ts";
import { toolKey } from "./goModule.ts";
import type { Program, Tool } from "./tool.ts";
import { cliTools } from "./tools.ts";

interface FileRecord {
  readonly sha256: string;
  /** Size and times when the file was last verified. */
  readonly seen: string;
}

export interface Entry {
  readonly tool: string;
  readonly version: string;
  readonly key: string;
  /** The Go release that built it. */
  readonly go: string;
  readonly builtAt: string;
  readonly seconds: number;
  readonly bytes: number;
  /** Whether it consists of files and no programs. */
  readonly isFileSet?: boolean;
  readonly files: Readonly<Record<string, FileRecord>>;
}

export type EntryState =
  | { readonly state: "good"; readonly entry: Entry }
  | { readonly state: "absent" }
  | { readonly state: "damaged"; readonly what: string };

const folders = new Map<string, string>();

/** The path of a tool's programs: it stays the same during a run, even if our own sources are edited meanwhile. */
export function entryFolder(tool: Tool): string {
  const known = folders.get(tool.name);
  if (known !== undefined) return known;
  const folder = join(cacheFolder, "tools", tool.name, toolKey(tool));
  folders.set(tool.name, folder);
  return folder;
}

/** The folder of the CLI and of what the engine expects beside it. */
export function cliFolder(): string {
  return join(cacheFolder, "cli", cliTools.map((tool) => toolKey(tool)).join("-"));
}

/** The path of one of a tool's programs. */
export function programPath(tool: Program, command: string = tool.commands[0]): string {
  return join(entryFolder(tool), command);
}

/**
 * Checks whether an entry exists and is intact. Files that were not touched since the last check are not hashed again, because hashing half a gigabyte at
 * every start would take a second. A file cannot be changed without a new ctime.
 */
export async function inspectEntry(folder: string): Promise<EntryState> {
  if ((await statusOf(folder)) === undefined) return { state: "absent" };
  let entry: Entry;
  try {
    entry = JSON.parse(await readFile(join(folder, "entry.json"), "utf8"));
    if (Object.keys(entry.files).length === 0) throw new Error("no files");
  } catch {
    return { state: "damaged", what: "entry.json is missing or broken" };
  }
  let touched = false;
  const files: Record<string, FileRecord> = {};
  for (const [name, record] of Object.entries(entry.files)) {
    const path = join(folder, name);
    const status = await statusOf(path);
    if (status === undefined) return { state: "damaged", what: `${name} is missing` };
    files[name] = { sha256: record.sha256, seen: fingerprint(status) };
    if (files[name].seen === record.seen) continue;
    if (!status.isFile() || (await sha256(path)) !== record.sha256) {
      return { state: "damaged", what: `${name} is not what was built` };
    }
    if (!entry.isFileSet && (status.mode & 0o111) === 0) return { state: "damaged", what: `${name} cannot be run` };
    touched = true;
  }
  // If it cannot be written, as in a read-only cache, the next check hashes again.
  if (touched) await writeEntry(folder, { ...entry, files }).catch(() => undefined);
  return { state: "good", entry };
}

/** Records size, times and hashes of files. */
export async function recordFiles(folder: string, names: readonly string[]): Promise<Record<string, FileRecord>> {
  const files: Record<string, FileRecord> = {};
  for (const name of names) {
    const path = join(folder, name);
    files[name] = { sha256: await sha256(path), seen: fingerprint(await stat(path)) };
  }
  return files;
}

/** Writes entry.json completely or not at all. */
export async function writeEntry(folder: string, entry: Entry): Promise<void> {
  const temporary = join(folder, `entry.json.${process.pid}`);
  await writeFile(temporary, `${JSON.stringify(entry, null, 2)}\n`);
  await rename(temporary, join(folder, "entry.json"));
}

/** Moves a complete folder to its place in one step; a damaged one there is first moved to `aside`. */
export async function publish(from: string, to: string, aside: string): Promise<void> {
  // Flushed to disk first: a power failure must not leave names without content.
  for (const name of await readdir(from, { recursive: true })) {
    const file = await open(join(from, name));
    await file.sync();
    await file.close();
  }
  await mkdir(dirname(to), { recursive: true });
  await rename(to, aside).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
  });
  await rename(from, to);
  await rm(aside, { recursive: true, force: true });
}

/** The status of a file or folder, or of a link's target; undefined if there is none. */
async function statusOf(path: string): Promise<Stats | undefined> {
  return stat(path).catch((error: NodeJS.ErrnoException) => {
    if (["ENOENT", "ENOTDIR", "ELOOP"].includes(error.code ?? "")) return undefined;
    throw error;
  });
}

function fingerprint({ size, mtimeMs, ctimeMs }: Stats): string {
  return `${size} ${mtimeMs} ${ctimeMs}`;
}

async function sha256(path: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path), hash);
  return hash.digest("hex");
}
