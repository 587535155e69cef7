import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";

/** The checkout. */
export const root = dirname(dirname(import.meta.dirname));

/** What runs write: state, passphrase, generated settings. Ignored by git. SLUICE_WORK names another folder, as in tests. */
export const workFolder = resolve(process.env.SLUICE_WORK || join(root, ".work"));

/** What all checkouts share: tools, and the caches of their builds. */
export const cacheFolder = resolve(
  process.env.SLUICE_CACHE || join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "sluice"),
);
