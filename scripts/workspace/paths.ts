import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";

/** The checkout. */
export const root = dirname(dirname(import.meta.dirname));

/** What a run leaves: state, passphrase, generated settings. Ignored by git. SLUICE_WORK names another, as tests do. */
export const workFolder = resolve(process.env.SLUICE_WORK || join(root, ".work"));

/** What is kept between checkouts: tools and the caches that build them. */
export const cacheFolder = resolve(
  process.env.SLUICE_CACHE || join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "sluice"),
);
