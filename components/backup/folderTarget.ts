// Backups in a folder of this host.
import { createReadStream } from "node:fs";
import { copyFile, mkdir, open, readdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { SluiceError } from "../errors/sluiceError.ts";
import { manifestFile, type StoredFile } from "./manifest.ts";
import type { Listed } from "./retention.ts";
import type { BackupTarget } from "./target.ts";

/** While its files are copied. */
const unfinished = ".unfinished";

export class FolderTarget implements BackupTarget {
  readonly title: string;
  private readonly folder: string;

  /** `folder` has the backups of one cluster. */
  constructor(folder: string) {
    this.title = folder;
    this.folder = folder;
  }

  async list(): Promise<readonly Listed[]> {
    const found = await this.named(() => readdir(this.folder, { withFileTypes: true }), []);
    const folders = found.filter((entry) => entry.isDirectory());
    return await Promise.all(
      folders.map(async ({ name }) => {
        const files = await this.named(() => readdir(join(this.folder, name)), []);
        const isComplete = !name.endsWith(unfinished) && files.includes(manifestFile);
        return { name: name.replace(unfinished, ""), isComplete };
      }),
    );
  }

  async *read(name: string, file: string): AsyncGenerator<Uint8Array> {
    try {
      yield* createReadStream(join(this.folder, name, file));
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== "ENOENT") throw this.failure(error);
      throw new SluiceError({
        code: "SLU-B103",
        where: name,
        seen: `${file} is missing in ${this.title}`,
        cause: error,
      });
    }
  }

  /** The folder gets its name once everything in it is on the disk. */
  async store(name: string, folder: string, files: Readonly<Record<string, StoredFile>>): Promise<void> {
    const made = join(this.folder, `${name}${unfinished}`);
    await this.named(async () => {
      await mkdir(made, { recursive: true, mode: 0o700 });
      for (const file of [...Object.keys(files), manifestFile]) {
        await copyFile(join(folder, file), join(made, file));
        await synced(join(made, file));
      }
      await synced(made);
      await rename(made, join(this.folder, name));
      await synced(dirname(made));
    });
  }

  async remove(name: string): Promise<void> {
    await this.named(async () => {
      for (const path of [name, `${name}${unfinished}`]) {
        await rm(join(this.folder, path), { recursive: true, force: true });
      }
    });
  }

  /** Does work on the folder; `none` is the result where it does not exist. */
  private async named<T>(work: () => Promise<T>, none?: T): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (none !== undefined && (error as NodeJS.ErrnoException).code === "ENOENT") return none;
      throw this.failure(error);
    }
  }

  private failure(cause: unknown): SluiceError {
    return new SluiceError({ code: "SLU-B102", where: this.title, seen: (cause as Error).message, cause });
  }
}

async function synced(path: string): Promise<void> {
  const file = await open(path);
  await file.sync().finally(() => file.close());
}
