// What a lab uses of the machine, seen from outside: processes, namespaces, ports, mounts.
import { readdirSync, readFileSync, readlinkSync } from "node:fs";

const kinds = ["net", "pid", "mnt", "user"];

/** Clock ticks in a second, on every Linux that Node runs on. */
export const ticks = 100;

export class Trace {
  private readonly folder: string;
  /** When this was read, in ticks since the machine started. */
  private readonly taken = Number(readFileSync("/proc/uptime", "utf8").split(" ")[0]) * ticks;
  /** The ids of its processes then. */
  readonly processes: readonly string[];
  /** The namespaces that are its own, such as "net:[4026532281]". */
  readonly namespaces: ReadonlySet<string>;
  /** Ports of the host's loopback that it listens on. */
  readonly ports: ReadonlySet<number>;

  /** Of the lab that has its files below a folder. */
  constructor(folder: string) {
    this.folder = folder;
    this.processes = processesOf(folder);
    const ours = new Set(namespacesOf("self"));
    this.namespaces = new Set(this.processes.flatMap(namespacesOf).filter((namespace) => !ours.has(namespace)));
    const sockets = new Set(this.processes.flatMap(socketsOf));
    this.ports = new Set([...listening()].filter(([, inode]) => sockets.has(inode)).map(([port]) => port));
  }

  /** The process that all others of the lab end with; undefined if there is none. */
  get daemon(): number | undefined {
    return this.processes.map(Number).find((pid) => /\nNSpid:(\t\d+)+\t1\n/.test(read(pid, "status")));
  }

  /** What is left when the lab has ended, a line each. */
  left(): string[] {
    const mounts = mountLines().filter((line) => line.includes(this.folder));
    return [
      ...processesOf(this.folder).map((pid) => `process ${pid}: ${commandOf(pid)}`),
      ...mounts.map((line) => `mount ${line}`),
      ...this.outlived(),
    ];
  }

  /** What is left of the earlier content, although another lab may have started in the folder. */
  outlived(): string[] {
    // A process that started later and has one of these ids is another one that got the id.
    const old = allProcesses().filter((pid) => startOf(pid) <= this.taken);
    const held = old.flatMap((pid) => namespacesOf(pid).map((namespace) => ({ pid, namespace })));
    const [namespaces, sockets] = [[...this.namespaces], listening()];
    return [
      ...old.filter((pid) => this.processes.includes(pid)).map((pid) => `process ${pid}: ${commandOf(pid)}`),
      ...held
        .filter(({ namespace }) => this.namespaces.has(namespace))
        .map(({ pid, namespace }) => `namespace ${namespace} of process ${pid}: ${commandOf(pid)}`),
      ...mountLines()
        .filter((line) => namespaces.some((namespace) => line.includes(namespace)))
        .map((line) => `mount ${line}`),
      ...[...this.ports].filter((port) => sockets.has(port)).map((port) => `port ${port}`),
    ];
  }
}

function mountLines(): string[] {
  return readFileSync("/proc/self/mountinfo", "utf8").split("\n");
}

/** Processes that name the folder in their arguments, in their environment, or as their working directory. */
function processesOf(folder: string): string[] {
  return allProcesses().filter(
    (pid) =>
      Number(pid) !== process.pid &&
      (read(pid, "cmdline").includes(folder) ||
        read(pid, "environ").includes(folder) ||
        linkOf(pid, "cwd").startsWith(folder)),
  );
}

/** Those that have memory: one that has ended has none, even before its parent has collected it. */
function allProcesses(): string[] {
  return readdirSync("/proc").filter((name) => /^\d+$/.test(name) && /^VmSize:/m.test(read(name, "status")));
}

/** When a process started, in ticks since the machine did. */
function startOf(pid: string): number {
  const stat = read(pid, "stat");
  // The name of the program, in brackets, may contain anything; the columns come after it.
  return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19]);
}

function namespacesOf(pid: string): string[] {
  return kinds.map((kind) => linkOf(pid, `ns/${kind}`)).filter((namespace) => namespace !== "");
}

/** The inodes of a process's sockets. */
function socketsOf(pid: string): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => /^socket:\[(\d+)]$/.exec(linkOf(pid, `fd/${fd}`))?.[1] ?? []);
  } catch {
    return [];
  }
}

/** The ports with a listener in this namespace, with the inode of the socket. */
function listening(): Map<number, string> {
  const lines = ["tcp", "tcp6"].flatMap((table) => readFileSync(`/proc/net/${table}`, "utf8").split("\n").slice(1));
  const columns = lines.map((line) => line.trim().split(/\s+/)).filter(([, , , state]) => state === "0A");
  return new Map(columns.map((column) => [Number.parseInt(column[1]?.split(":")[1] ?? "", 16), column[9] ?? ""]));
}

function commandOf(pid: string): string {
  return read(pid, "cmdline").replaceAll("\0", " ").trim();
}

/** Empty if the process has ended meanwhile or is another user's. */
function read(pid: string | number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return "";
  }
}

function linkOf(pid: string, name: string): string {
  try {
    return readlinkSync(`/proc/${pid}/${name}`);
  } catch {
    return "";
  }
}
