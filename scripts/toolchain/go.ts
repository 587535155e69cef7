// Calls of the go command, with caches of our own so that `--prune` can drop them without touching anybody else's.
import { join } from "node:path";
import { Failure } from "../workspace/fail.ts";
import { cacheFolder } from "../workspace/paths.ts";
import { type Ended, run } from "../workspace/run.ts";

const settings = {
  GOMODCACHE: join(cacheFolder, "go", "mod"),
  GOCACHE: join(cacheFolder, "go", "build"),
  // The committed go.sum decides; nothing is added to it.
  GOFLAGS: "-mod=readonly -trimpath -buildvcs=false",
  GOWORK: "off",
  CGO_ENABLED: "0",
};

/** How long the module proxy may be silent before the fetch is taken up anew: go itself waits for ever. */
const stallAfter = 90_000;
const fetchAttempts = 4;

export interface GoCall {
  readonly cwd: string;
  readonly args: readonly string[];
}

/** The Go release, or an error that says what to do. */
export async function goVersion(): Promise<string> {
  const asked = await run("go", ["env", "GOVERSION"]).catch(() => undefined);
  const version = asked?.stdout.trim() ?? "";
  const [, major, minor] = /^go(\d+)\.(\d+)/.exec(version) ?? [];
  if (Number(major) === 1 && Number(minor) >= 26) return version;
  const found = version === "" ? "there is no go on PATH" : `go on PATH is ${version}`;
  throw new Failure(
    `Go 1.26 or later builds the toolchain, but ${found}. Install it, or install the Pulumi CLI and run again.`,
  );
}

export function go(call: GoCall, onOutput?: (text: string) => void, signal?: AbortSignal): Promise<Ended> {
  return run("go", call.args, {
    cwd: call.cwd,
    env: { ...process.env, ...settings },
    ...(onOutput === undefined ? {} : { onOutput }),
    ...(signal === undefined ? {} : { signal }),
  });
}

/** A call that downloads. One that stalls is ended and begun again; what had arrived is kept by go. */
export async function goFetching(call: GoCall, onOutput: (text: string) => void): Promise<Ended> {
  for (let attempt = 1; ; attempt++) {
    const stall = new AbortController();
    let timer = setTimeout(() => stall.abort(), stallAfter);
    try {
      const heard = (text: string) => {
        clearTimeout(timer);
        timer = setTimeout(() => stall.abort(), stallAfter);
        onOutput(text);
      };
      return await go(call, heard, stall.signal);
    } catch (error) {
      if (!stall.signal.aborted || attempt === fetchAttempts) throw error;
      onOutput(`the module proxy was silent for ${stallAfter / 1000} s: attempt ${attempt + 1} of ${fetchAttempts}\n`);
    } finally {
      clearTimeout(timer);
    }
  }
}

/** The same call as a line for a shell. */
export function shellLine(call: GoCall): string {
  const quote = (word: string) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);
  const environment = Object.entries(settings).map(([name, value]) => `${name}=${quote(value)}`);
  return `cd ${quote(call.cwd)} && ${environment.join(" ")} go ${call.args.map(quote).join(" ")}`;
}
