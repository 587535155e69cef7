// Calls of the go command, with caches of our own so that `--prune` can drop them without touching anybody else's.
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Failure } from "../workspace/fail.ts";
import { cacheFolder } from "../workspace/paths.ts";
import { type Ended, type RunOptions, run } from "../workspace/run.ts";

/** Where builds happen: nothing in it outlives the next one. */
export const buildFolder = join(cacheFolder, "build");

const settings = {
  GOMODCACHE: join(cacheFolder, "go", "mod"),
  GOCACHE: join(cacheFolder, "go", "build"),
  // The committed go.sum decides; nothing is added to it.
  GOFLAGS: "-mod=readonly -trimpath -buildvcs=false",
  GOWORK: "off",
  CGO_ENABLED: "0",
  // What a person sets for work of their own; the key of a tool names this platform.
  GO111MODULE: "on",
  GOOS: process.platform,
  GOARCH: process.arch === "x64" ? "amd64" : process.arch,
};

/** How patiently modules are fetched. */
export interface Patience {
  /** Milliseconds that the module proxy may be silent: go itself waits for ever. */
  readonly stallAfter: number;
  readonly attempts: number;
  /** Milliseconds before the second attempt; before the third twice that, and so on. */
  readonly pause: number;
}

const ordinaryPatience: Patience = { stallAfter: 90_000, attempts: 4, pause: 2_000 };

/** What a module proxy or the way to it says when the same call may well succeed a moment later. */
const passing =
  /\b(429|5\d\d) [A-Z]|TLS handshake timeout|i\/o timeout|connection reset|unexpected EOF|stream error|GOAWAY/;

export interface GoCall {
  readonly cwd: string;
  readonly args: readonly string[];
  /** A folder for what go is at; where the system has them unless it is given. */
  readonly temporary?: string;
  /** What the call needs in its environment beside. */
  readonly env?: Readonly<Record<string, string>>;
}

type OutputListener = NonNullable<RunOptions["onOutput"]>;

/** Told why a call is made once more, and which attempt that is: "attempt 2 of 4". */
type RetryListener = (attempt: string, why: string) => void;

/** Hears how a fetch goes. */
export interface FetchListener {
  readonly onOutput: OutputListener;
  readonly onRetry: RetryListener;
}

/** The Go release, or an error that says what to do. */
export async function goVersion(): Promise<string> {
  const asked = await run("go", ["env", "GOVERSION"]).catch(() => undefined);
  const version = asked?.stdout.trim() ?? "";
  const [, major, minor] = /^go(\d+)\.(\d+)/.exec(version) ?? [];
  if (Number(major) === 1 && Number(minor) >= 26) return version;
  let found = `go on PATH is ${version}`;
  if (asked === undefined) found = "there is no go on PATH";
  else if (version === "") found = `go on PATH does not say which it is: ${asked.stderr.trim()}`;
  throw new Failure(
    `Go 1.26 or later builds the toolchain, but ${found}. ` +
      "Install it from https://go.dev/dl, or install the Pulumi CLI, and run again.",
  );
}

export function go(call: GoCall, options: Pick<RunOptions, "onOutput" | "stall"> = {}): Promise<Ended> {
  return run("go", call.args, { cwd: call.cwd, env: goEnvironment(call), ...options });
}

/** The environment of a call; also for programs that call go themselves. */
export function goEnvironment(call: Pick<GoCall, "temporary" | "env"> = {}): NodeJS.ProcessEnv {
  return { ...process.env, ...settingsOf(call) };
}

/** A call that downloads. One that stalls, or meets a fault that passes, is made again; go keeps what had arrived. */
export async function goFetching(
  call: GoCall,
  onOutput: OutputListener,
  onRetry: RetryListener = () => undefined,
  { stallAfter, attempts, pause }: Patience = ordinaryPatience,
): Promise<Ended> {
  for (let attempt = 1; ; attempt++) {
    const ended = await go(call, { onOutput, stall: stallAfter });
    const why = whyPassing(ended, stallAfter);
    if (why === undefined) return ended;
    if (attempt === attempts) return { ...ended, stderr: `${ended.stderr}${why}, ${attempts} times in a row\n` };
    onRetry(`attempt ${attempt + 1} of ${attempts}`, why);
    await sleep(pause * attempt);
  }
}

function whyPassing(ended: Ended, stallAfter: number): string | undefined {
  if (ended.cut === "stall") return `nothing came from the module proxy for ${stallAfter / 1000} s`;
  // `go mod download -json` puts its errors into what it prints.
  const said = `${ended.stderr}\n${ended.stdout}`.split("\n");
  return ended.code === 0 ? undefined : said.find((line) => passing.test(line))?.trim();
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
