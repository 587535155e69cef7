// Runs the npm scripts like a user, on the machine's own PATH, with a separate work folder.
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { parse, parseDocument } from "yaml";
import { cacheFolder, root } from "../../scripts/base/paths.ts";
import type { Ended } from "../../scripts/base/run.ts";
import { plainValue } from "../../scripts/stack/exported.ts";
import { type ChildOptions, runChild } from "./runChild.ts";

export interface CallOptions extends Pick<ChildOptions, "onOutput"> {
  /** What to put before the command, such as `unshare -n`. */
  readonly within?: readonly string[];
  readonly input?: string;
  /** Milliseconds, if the call may take longer than a single one usually does. */
  readonly timeout?: number;
  /** Variables that the user has set. */
  readonly variables?: Readonly<Record<string, string>>;
}

/** A folder for everything that runs leave behind, and the calls that leave it there. */
export class Workbench {
  readonly folder = mkdtempSync(join(tmpdir(), "sluice-engine-"));
  /** The folder that SLUICE_WORK names: state, passphrase, settings, the engine's home. */
  readonly work = join(this.folder, "work");
  /** The output of all calls so far, except the exports. */
  readonly said: string[] = [];
  private readonly environments: string[] = [];
  private readonly home = join(this.folder, "home");
  private readonly temporary = join(this.folder, "tmp");

  /** A fresh one starts like a clone; any other has the checkout's results about its plugins, which take an attempt to find out. */
  constructor({ fresh }: { readonly fresh: boolean }) {
    for (const folder of [this.work, this.temporary, this.home]) mkdirSync(folder);
    this.linkDownloads();
    const plugins = join(root, ".work", "pulumi", "plugins");
    if (fresh || !existsSync(plugins)) return;
    cpSync(plugins, join(this.work, "pulumi", "plugins"), { recursive: true, verbatimSymlinks: true });
  }

  /** Runs `npm run <script> -- <args>`, by the command in package.json. */
  npm(script: string, ...args: readonly string[]): Promise<Ended> {
    return this.npmWith({}, script, ...args);
  }

  async npmWith(options: CallOptions, script: string, ...args: readonly string[]): Promise<Ended> {
    const ended = await this.call(options, script, args);
    this.said.push(ended.stdout, ended.stderr);
    return ended;
  }

  /** A line as a user types it into a shell in the checkout. */
  async typed(line: string, { timeout }: CallOptions = {}): Promise<Ended> {
    const ended = await runChild("sh", ["-c", line], { cwd: root, env: this.environment(), timeout });
    this.said.push(ended.stdout, ended.stderr);
    return ended;
  }

  private call(
    { within = [], variables, ...options }: CallOptions,
    script: string,
    args: readonly string[],
  ): Promise<Ended> {
    const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    const [program = "", ...rest] = [...within, ...String(scripts[script]).split(" "), ...args];
    return runChild(program, rest, { cwd: root, env: { ...this.environment(), ...variables }, ...options });
  }

  /** The stack in the engine's format, secrets in plain text. */
  async exported(name: string): Promise<State> {
    const { code, stdout, stderr } = await this.call({}, "pulumi", [
      "stack",
      "export",
      "--stack",
      name,
      "--show-secrets",
    ]);
    if (code !== 0) throw new Error(`stack export: ${stderr}`);
    return new State(JSON.parse(stdout).deployment.resources ?? []);
  }

  /** Where the engine keeps the stack. */
  stateFile(name: string): string {
    return join(this.work, "state", ".pulumi", "stacks", "sluice", `${name}.json`);
  }

  /** Creates a file `Pulumi.<name>.yaml` from an included one, under an unused name, and returns the name. */
  addEnvironment(base: string, changes: Readonly<Record<string, unknown>> = {}): string {
    const name = this.addSettings(base, readFileSync(settingsPath(base), "utf8"));
    this.editEnvironment(name, changes);
    return name;
  }

  /** The same from a given text. */
  addSettings(title: string, text: string): string {
    const name = this.newName(title);
    writeFileSync(settingsPath(name), text, { flag: "wx" });
    return name;
  }

  /** Of an environment whose file a command writes. */
  newName(title: string): string {
    const name = `test-${process.pid}-${this.environments.length}-${title}`;
    this.environments.push(name);
    return name;
  }

  /** Sets top-level keys in the file, or removes those that are undefined. */
  editEnvironment(name: string, changes: Readonly<Record<string, unknown>>): void {
    if (!this.environments.includes(name)) throw new Error(`${name} is not a test's own`);
    const document = parseDocument(readFileSync(settingsPath(name), "utf8"));
    for (const [key, value] of Object.entries(changes)) {
      const path = ["config", `sluice:${key}`];
      if (value === undefined) document.deleteIn(path);
      else document.setIn(path, value);
    }
    writeFileSync(settingsPath(name), document.toString());
  }

  /** Sets keys of a node in the file. */
  editNode(name: string, node: string, changes: Readonly<Record<string, unknown>>): void {
    const { config } = parse(readFileSync(settingsPath(name), "utf8"));
    const nodes = config["sluice:nodes"] as readonly { readonly name: string }[];
    this.editEnvironment(name, { nodes: nodes.map((one) => (one.name === node ? { ...one, ...changes } : one)) });
  }

  remove(): void {
    for (const name of this.environments) rmSync(settingsPath(name), { force: true });
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Downloaded plugins are used, but no account and nothing else from the user's home. */
  private linkDownloads(): void {
    const downloads = join(process.env.PULUMI_HOME || join(homedir(), ".pulumi"), "plugins");
    mkdirSync(join(this.home, ".pulumi"));
    if (existsSync(downloads)) symlinkSync(downloads, join(this.home, ".pulumi", "plugins"));
  }

  /** That of a user without any account, whatever the machine's own has. */
  private environment(): NodeJS.ProcessEnv {
    const strange =
      /^(PULUMI|SLUICE|HCLOUD|PROXMOX|AWS|GOOGLE|AZURE|npm|NPM|JEST)_|^(NODE_OPTIONS|NODE_ENV|KUBECONFIG|TALOSCONFIG)$/;
    const kept = Object.entries(process.env).filter(([key]) => !strange.test(key));
    const path = (process.env.PATH ?? "")
      .split(delimiter)
      .filter((folder) => !folder.startsWith(join(root, "node_modules")));
    return {
      ...Object.fromEntries(kept),
      PATH: path.join(delimiter),
      HOME: this.home,
      PULUMI_HOME: join(this.home, ".pulumi"),
      TMPDIR: this.temporary,
      SLUICE_WORK: this.work,
      SLUICE_CACHE: cacheFolder,
    };
  }
}

/** The resources of an exported stack. */
export class State {
  readonly resources: readonly Resource[];

  constructor(resources: readonly Resource[]) {
    this.resources = resources;
  }

  /** Type and name of each resource that a preview shows, sorted. */
  list(): string[] {
    return listed(this.resources.map(({ urn }) => urn));
  }

  outputs(type: string): Record<string, unknown> {
    const found = this.resources.filter((resource) => resource.type === type);
    if (found.length !== 1) throw new Error(`there are ${found.length} resources of type ${type}`);
    return Object.fromEntries(Object.entries(found[0]?.outputs ?? {}).map(([key, value]) => [key, plainValue(value)]));
  }
}

interface Resource {
  readonly urn: string;
  readonly type: string;
  readonly outputs?: Record<string, unknown>;
}

/** `type name` of each URN, sorted; the engine's own default providers are left out. */
export function listed(urns: readonly string[]): string[] {
  return urns
    .map((urn) => {
      const [, , types = "", name = ""] = urn.replace(/^urn:pulumi:/, "").split("::");
      return `${types.split("$").at(-1)} ${name}`;
    })
    .filter((line) => !line.startsWith("pulumi:providers:"))
    .sort();
}

/** The content of an included environment's file, by Pulumi's keys. */
export function settings(name: string): { readonly config: Record<string, unknown>; readonly encryptionsalt?: string } {
  return parse(readFileSync(settingsPath(name), "utf8"));
}

export function settingsPath(name: string): string {
  return join(root, `Pulumi.${name}.yaml`);
}
