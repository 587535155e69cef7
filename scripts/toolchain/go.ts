// Calls of the go command, with their own caches, so that `--prune` can remove them without touching the user's.
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Failure } from "../base/fail.ts";
import { cacheFolder } from "../base/paths.ts";
import { type Ended, type RunOptions, run } from "../base/run.ts";

/** Where builds happen: its content is removed before the next build. */
export const buildFolder = join(cacheFolder, "building");

const settings = {
  GOMODCACHE: join(cacheFolder, "go", "mod"),
  GOCACHE: join(cacheFolder, "go", "build"),
  // The committed go.sum is authoritative; nothing is added to it. No debug data is generated, because linking would drop it: that saves a sixth of the
  // compile time.
  GOFLAGS: "-mod=readonly -trimpath -buildvcs=false -gcflags=all=-dwarf=false",
  GOWORK: "off",
  CGO_ENABLED: "0",
  // Overrides the user's own settings, because a tool's key contains this platform.
  GO111MODULE: "on",
  GOOS: process.platform,
  GOARCH: process.arch === "x64" ? "amd64" : process.arch,
};

/** The number of attempts to fetch modules. */
export interface FetchRetries {
  /** Milliseconds that the module proxy may be silent: go itself would wait indefinitely. */
  readonly stallAfterMs: number;
  readonly attempts: number;
  /** Milliseconds before the second attempt; twice that before the third, and so on. */
  readonly pauseMs: number;
}

const ordinaryRetries: FetchRetries = { stallAfterMs: 90_000, attempts: 4, pauseMs: 2_000 };

/** Errors of a module proxy or the network after which the same call may succeed a moment later. */
const transient =
  /\b(429|5\d\d) [A-Z]|TLS handshake timeout|i\/o timeout|connection reset|unexpected EOF|stream error|GOAWAY/;

export interface GoCall {
  readonly cwd: string;
  readonly args: readonly string[];
  /** A folder for temporary files. Default: the system's. */
  readonly temporary?: string;
  /** What else the call needs in its environment. */
  readonly env?: Readonly<Record<string, string>>;
}

type OutputListener = NonNullable<RunOptions["onOutput"]>;

/** Called before a further attempt with its name, "attempt 2 of 4", and the reason. */
type RetryListener = (attempt: string, reason: string) => void;

/** Observes a download, and may cancel it. */
export interface FetchListener {
  readonly onOutput?: OutputListener;
  readonly onRetry?: RetryListener;
  readonly signal?: AbortSignal;
}

let version: Promise<string> | undefined;

/** The Go release, or an error with what to do. */
export function goVersion(): Promise<string> {
  version ??= askVersion();
  return version;
}

async function askVersion(): Promise<string> {
  const asked = await run("go", ["env", "GOVERSION"]).catch(() => undefined);
  const version = asked?.stdout.trim() ?? "";
  const [, major, minor] = /^go(\d+)\.(\d+)/.exec(version) ?? [];
  if (Number(major) === 1 && Number(minor) >= 26) return version;
  let found = `go on PATH is ${version}`;
  if (asked === undefined) found = "go is not on PATH";
  else if (version === "") found = `go on PATH does not report its version: ${asked.stderr.trim()}`;
  throw new Failure(
    `Go 1.26 or later builds the toolchain, but ${found}. ` +
      "Install it from https://go.dev/dl, or install the Pulumi CLI, and run again.",
  );
}

export function go(call: GoCall, options: Pick<RunOptions, "onOutput" | "stall" | "signal"> = {}): Promise<Ended> {
  return run("go", call.args, { cwd: call.cwd, env: goEnvironment(call), ...options });
}

/** The environment of a call, and of programs that call go themselves. */
export function goEnvironment(call: Pick<GoCall, "temporary" | "env"> = {}): NodeJS.ProcessEnv {
  return { ...process.env, ...settingsOf(call) };
}

/** A call that downloads. If it stalls or fails transiently, it is repeated; go keeps what has arrived. */
export async function goFetching(
  call: GoCall,
  { onOutput, onRetry, signal }: FetchListener = {},
  { stallAfterMs, attempts, pauseMs }: FetchRetries = ordinaryRetries,
): Promise<Ended> {
  for (let attempt = 1; ; attempt++) {
    const ended = await go(call, { ...(onOutput && { onOutput }), signal, stall: stallAfterMs });
    const reason = signal?.aborted ? undefined : transientReason(ended, stallAfterMs);
    if (reason === undefined) return ended;
    if (attempt === attempts) return { ...ended, stderr: `${ended.stderr}${reason}, ${attempts} times in a row\n` };
    onRetry?.(`attempt ${attempt + 1} of ${attempts}`, reason);
    await sleep(pauseMs * attempt);
  }
}

/** Why the same call may succeed a moment later; undefined if it would not, or has succeeded. */
function transientReason(ended: Ended, stallAfterMs: number): string | undefined {
  if (ended.cut === "stall") return `nothing came from the module proxy for ${stallAfterMs / 1000} s`;
  // `go mod download -json` prints its errors on standard output.
  const said = `${ended.stderr}\n${ended.stdout}`.split("\n");
  return ended.code === 0 ? undefined : said.find((line) => transient.test(line))?.trim();
}

/** The same call as a line for a shell. */
export function shellLine(call: GoCall): string {
  const quote = (word: string) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);
  const environment = Object.entries(settingsOf(call)).map(([name, value]) => `${name}=${quote(value)}`);
  return `cd ${quote(call.cwd)} && ${environment.join(" ")} go ${call.args.map(quote).join(" ")}`;
}

function settingsOf({ temporary, env = {} }: Pick<GoCall, "temporary" | "env">): Readonly<Record<string, string>> {
  return { ...settings, ...(temporary === undefined ? {} : { GOTMPDIR: temporary }), ...env };
}
