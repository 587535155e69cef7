// Ends the process of the dynamic providers when the engine is gone. A killed engine does not end its child processes, and a provider that continues would
// create resources while the next run creates them too.
import { readFileSync } from "node:fs";
import { connect } from "node:net";

const intervalMs = 250;

/** What this needs from the process; tests replace it. */
export interface WatchedProcess {
  readonly argv: readonly string[];
  readonly ppid: number;
  exit(): void;
}

/** Does nothing in other processes, such as tests, or without /proc. */
export function endWithEngine(own: WatchedProcess = process): void {
  if (!own.argv[1]?.includes("dynamic-provider")) return;
  const engine = engineOf(own.ppid);
  const started = startOf(engine);
  if (started === undefined) return;
  // Killed before this was loaded, it has left this process to another parent.
  unlessServed(own.argv.slice(2), () => own.exit());
  setInterval(() => {
    if (startOf(engine) !== started) own.exit();
  }, intervalMs).unref();
}

/** The engine's own address is the first argument that is one: it is served for as long as the engine runs. */
function unlessServed(args: readonly string[], gone: () => void): void {
  const [, host, port] = /^(127\.0\.0\.1):(\d+)$/m.exec(args.join("\n")) ?? [];
  if (host === undefined) return;
  const socket = connect({ host, port: Number(port) });
  socket.unref().on("error", gone);
  socket.on("connect", () => socket.destroy());
}

/** The engine starts a script, whose shell outlives it. */
function engineOf(parent: number): number {
  const [, name = "", grandparent = "0"] = /^\d+ \((.*)\) \S (\d+) /s.exec(statOf(parent)) ?? [];
  return /^(ba|da|a)?sh$|^pulumi-resource/.test(name) ? Number(grandparent) : parent;
}

/** When a process started, in ticks. Process ids are reused, but never with the same start time. Undefined if it has ended. */
function startOf(pid: number): string | undefined {
  const stat = statOf(pid);
  const [state, ...fields] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return state === "Z" ? undefined : fields[18];
}

function statOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8");
  } catch {
    return "";
  }
}
