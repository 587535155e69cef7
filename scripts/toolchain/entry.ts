// A built tool in the cache: tools/<name>/<key>/ with its programs and entry.json, which says what they must look like.
import { createHash } from "node:crypto";
import { createReadStream, type Stats } from "node:fs";
import { mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { cacheFolder } from "../workspace/paths.ts";
import { toolKey } from "./goModule.ts";
import type { Program, Tool } from "./tool.ts";
import { cliTools } from "./tools.ts";

interface FileRecord {
  readonly sha256: string;
  /** Size and times as they were when the file was last found to be right. */
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
  /** Whether nothing of it is there to be run. */
  readonly isFileSet?: boolean;
  readonly files: Readonly<Record<string, FileRecord>>;
}

export type EntryState =
  | { readonly state: "good"; readonly entry: Entry }
  | { readonly state: "absent" }
  | { readonly state: "damaged"; readonly what: string };

const folders = new Map<string, string>();

/** Where a tool's programs lie: one place in a run, though sources of our own may be edited while it goes on. */
export function entryFolder(tool: Tool): string {
  const known = folders.get(tool.name);
  if (known !== undefined) return known;
  const folder = join(cacheFolder, "tools", tool.name, toolKey(tool));
  folders.set(tool.name, folder);
  return folder;
}

/** Where the CLI and what the engine looks for beside it lie together. */
export function cliFolder(): string {
  return join(cacheFolder, "cli", cliTools.map((tool) => toolKey(tool)).join("-"));
}

/** The path of one of a tool's programs. */
export function programPath(tool: Program, command: string = tool.commands[0]): string {
  return join(entryFolder(tool), command);
}

/**
 * Looks whether an entry is there and whole. Files that were not touched since they were last hashed are taken as
 * good: hashing half a gigabyte at every start would cost a second. A file cannot be changed without its ctime changing.
 */
export async function inspectEntry(folder: string): Promise<EntryState> {
  if ((await statusOf(folder)) === undefined) return { state: "absent" };
  let entry: Entry;
  try {
    entry = JSON.parse(await readFile(join(folder, "entry.json"), "utf8"));
    if (Object.keys(entry.files).length === 0) throw new Error("it names no files");
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
  // Where it cannot be written, as in a cache that is only read, the next look hashes again.
  if (touched) await writeEntry(folder, { ...entry, files }).catch(() => undefined);
  return { state: "good", entry };
}

/** Records what the files of a folder look like. */
export async function recordFiles(folder: string, names: readonly string[]): Promise<Record<string, FileRecord>> {
  const files: Record<string, FileRecord> = {};
  for (const name of names) {
    const path = join(folder, name);
    files[name] = { sha256: await sha256(path), seen: fingerprint(await stat(path)) };
  }
  return files;
}

/** Writes entry.json whole or not at all. */
export async function writeEntry(folder: string, entry: Entry): Promise<void> {
  const temporary = join(folder, `entry.json.${process.pid}`);
  await writeFile(temporary, `${JSON.stringify(entry, null, 2)}\n`);
  await rename(temporary, join(folder, "entry.json"));
}

/** Puts a finished folder in its place in one step; what is left of a damaged one there goes to `aside` first. */
export async function publish(from: string, to: string, aside: string): Promise<void> {
  // To the disk first: a power cut must not leave names without content.
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

/** What the file or folder is, a link looked at through to its target; undefined where there is none. */
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
