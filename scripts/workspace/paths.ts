import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";

/** The checkout. */
export const root = dirname(dirname(import.meta.dirname));

/** What a run leaves in the checkout: state, passphrase, generated settings. Ignored by git. */
export const workFolder = join(root, ".work");

/** What is kept between checkouts: tools and the caches that build them. */
export const cacheFolder = resolve(
  process.env.SLUICE_CACHE || join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "sluice"),
);
