// Hands declared machine secrets to the Talos plugin, which imports them from a file. docs/decisions/imported-secrets.md
import {
  accessSync,
  closeSync,
  constants,
  mkdtempSync,
  openSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { RunError } from "@pulumi/pulumi";
import { type Clock, systemClock } from "../../waiting/clock.ts";
import { poll } from "../../waiting/poll.ts";
import { bundleText, type SecretsBundle } from "./secretsBundle.ts";

/**
 * The name of the file, in the folder in which the engine starts its plugins: the checkout. It is also the id that the plugin gives to every resource of
 * machine secrets. So the engine imports them where it has none, and nothing at all where it has, whether they were generated or imported.
 */
export const secretsFile = "machine_secrets";

/** Milliseconds that another run in the same folder may take until its plugin has read its own. */
const otherRunMs = 30_000;

/** Until it is called, the plugin can read the secrets. */
export type Withdraw = () => void;

/**
 * The file has no name of its own and ends with this process: what the plugin opens is a link to this process's open file. A link that a killed run has
 * left leads nowhere.
 */
export async function offerSecrets(
  bundle: SecretsBundle,
  folder = process.cwd(),
  clock = systemClock,
): Promise<Withdraw> {
  const link = join(folder, secretsFile);
  const opened = openUnnamed(bundleText(bundle));
  // The process's number as /proc has it, which in another pid namespace is another.
  const target = `/proc/${readlinkSync("/proc/self")}/fd/${opened}`;
  await place(link, target, clock);
  let isOffered = true;
  const withdraw = () => {
    if (!isOffered) return;
    isOffered = false;
    rmSync(link, { force: true });
    closeSync(opened);
  };
  process.once("exit", withdraw);
  return withdraw;
}

const memory = "/dev/shm";

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** A file in memory, where there is such a file system, that only this process and its user can open. */
function openUnnamed(text: string): number {
  const folder = mkdtempSync(join(isWritable(memory) ? memory : tmpdir(), "sluice-"));
  const path = join(folder, "secrets");
  const opened = openSync(path, "wx+", 0o600);
  rmSync(folder, { recursive: true });
  writeSync(opened, text);
  return opened;
}

async function place(link: string, target: string, clock: Clock): Promise<void> {
  const late = new RunError(
    `another run in this folder has been importing machine secrets for ${otherRunMs / 1000} s: wait until it has ended, or remove ${link}`,
  );
  const until = clock.now() + otherRunMs;
  await poll(async () => (take(link, target) ? { found: true } : { late }), {
    clock,
    random: Math.random,
    until: () => until,
  });
}

/** False while another run's link is there. */
function take(link: string, target: string): boolean {
  try {
    symlinkSync(target, link);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    if (statSync(link, { throwIfNoEntry: false }) === undefined) rmSync(link, { force: true });
    return false;
  }
}
