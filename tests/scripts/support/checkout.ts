// A separate checkout for each test: our scripts, a short list of tools, and a PATH with only fakes.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  accessSync,
  chmodSync,
  constants,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { type Child, type Ended, start } from "./child.ts";
import {
  fixtureLab,
  fixtureModules,
  fixturePlugins,
  fixturePreparations,
  fixtureSources,
  fixtureTools,
} from "./fixtureTools.ts";

const repository = join(import.meta.dirname, "..", "..", "..");
const fakes = join(import.meta.dirname, "fakes");
const nodeFolder = join("node_modules", `node-${process.platform}-${process.arch}`, "bin");

/** The only programs of the system that are on PATH: the machine's own go, pulumi or npm must not answer. */
const systemPrograms = [
  "cat",
  "chmod",
  "cp",
  "dd",
  "du",
  "env",
  "flock",
  "head",
  "ln",
  "mkdir",
  "rm",
  "sh",
  "sleep",
  "touch",
];

const fakePrograms = ["go", "pulumi", "npm"] as const;
type Fake = (typeof fakePrograms)[number];

export interface Checkout {
  readonly folder: string;
  readonly cache: string;
  readonly env: NodeJS.ProcessEnv;
  /** Puts fakes on PATH. */
  install(...fakes: readonly Fake[]): void;
  /** The first action of a fake, as shell text: `on("go build", "exit 1")`. */
  on(call: string, shell: string): void;
  /** The calls of fakes since the last time. */
  calls(): string[];
  /** Runs a command of scripts/ to its end. */
  run(command: string, ...args: readonly string[]): Promise<Ended>;
  /** Starts a command of scripts/. */
  start(command: string, ...args: readonly string[]): Child;
  /** Starts it like npm, with scripts/run.mjs. */
  startByNpm(command: string, ...args: readonly string[]): Child;
  /** A path below the checkout's parent folder, which fakes read and write. */
  fake(...path: readonly string[]): string;
  /** The folders of a tool's entries in the cache. */
  entries(tool: string): string[];
  /** Empties the cache, the work folder and the home, fills node_modules, and removes the fakes. */
  reset(): void;
  remove(): void;
}

/** Creates a checkout; `beside` another, it shares the cache and fakes. */
export function makeCheckout(beside?: Checkout): Checkout {
  const base =
    beside === undefined ? realpathSync(mkdtempSync(join(tmpdir(), "sluice-test-"))) : dirname(beside.folder);
  const folder = join(base, beside === undefined ? "checkout" : "checkout2");
  const fake = (...path: readonly string[]) => join(base, "fake", ...path);
  const bin = join(base, "bin");
  fillCheckout(folder);
  fillNodeModules(folder);
  if (beside === undefined) {
    mkdirSync(fake(), { recursive: true });
    writeModules(fake("modules"));
    mkdirSync(bin);
    for (const program of systemPrograms) symlinkSync(onPath(program), join(bin, program));
  }
  // A quote and a space: everything that is part of a shell line or a pattern must tolerate them.
  const cache = join(base, "it's a cache");
  const ordinaryEnv = {
    PATH: bin,
    HOME: join(base, "home"),
    SLUICE_CACHE: cache,
    FAKE: fake(),
    FAKE_NODE: process.execPath,
    FAKE_NODE_FOLDER: nodeFolder,
    // Halves the time that the tests take.
    NODE_COMPILE_CACHE: join(base, "compiled"),
  };
  const env: NodeJS.ProcessEnv = { ...ordinaryEnv };
  const startScript = (command: string, args: readonly string[]) =>
    start(process.execPath, ["--disable-warning=ExperimentalWarning", scriptOf(folder, command), ...args], env);
  return {
    folder,
    cache,
    env,
    fake,
    install(...names) {
      for (const name of names) symlinkSync(join(fakes, name), join(bin, name));
    },
    on: (call, shell) => writeFileSync(fake(`on-${call.replace(" ", "-")}`), `${shell}\n`),
    calls() {
      const text = existsSync(fake("calls")) ? readFileSync(fake("calls"), "utf8") : "";
      writeFileSync(fake("calls"), "");
      return text.split("\n").slice(0, -1);
    },
    run: (command, ...args) => startScript(command, args).ended,
    start: (command, ...args) => startScript(command, args),
    startByNpm: (command, ...args) =>
      start(process.execPath, [join(folder, "scripts", "run.mjs"), command, ...args], env, folder),
    entries(tool) {
      const tools = join(cache, "tools", tool);
      return existsSync(tools) ? readdirSync(tools).map((key) => join(tools, key)) : [];
    },
    reset() {
      const left = readdirSync(fake()).filter((name) => name !== "modules");
      const fakes = fakePrograms.map((name) => join(bin, name));
      removeTree(cache, join(folder, ".work"), ordinaryEnv.HOME, ...left.map((name) => fake(name)), ...fakes);
      fillNodeModules(folder);
      for (const name of Object.keys(env)) delete env[name];
      Object.assign(env, ordinaryEnv);
    },
    remove: () => removeTree(base),
  };
}

function scriptOf(folder: string, command: string): string {
  const paths = ["cli", "tools"].map((kind) => join(folder, "scripts", kind, `${command}.ts`));
  const found = paths.find((path) => existsSync(path));
  if (found === undefined) throw new Error(`no command ${command}`);
  return found;
}

function fillCheckout(folder: string): void {
  for (const path of [
    "scripts/base",
    "scripts/toolchain",
    "scripts/tools/toolchain.ts",
    "scripts/lab",
    "scripts/cli/lab.ts",
    "scripts/run.mjs",
    "stacks/base/labName.ts",
    "toolchain",
  ]) {
    cpSync(join(repository, path), join(folder, path), { recursive: true });
  }
  write(join(folder, "scripts", "toolchain", "engineTools.ts"), [
    `export const preparations = ${JSON.stringify(fixturePreparations)};`,
    `export const engineTools = ${JSON.stringify(fixtureTools)};`,
  ]);
  // What the fakes build takes next to nothing: no test may depend on how much room this machine's disk has.
  const labTools = join(folder, "scripts", "toolchain", "labTools.ts");
  writeFileSync(labTools, readFileSync(labTools, "utf8").replaceAll(/gigabytes: \d+/g, "gigabytes: 0.01"));
  // The calls of `npm start` before it calls the CLI.
  write(join(folder, "scripts", "tools", "prepare.ts"), [
    'import { prepareToolchain } from "../toolchain/toolchain.ts";',
    'import { main } from "../base/fail.ts";',
    "await main(async () => void console.log(JSON.stringify(await prepareToolchain())));",
  ]);
  for (const [path, text] of Object.entries(fixtureModules)) write(join(folder, "toolchain", path), [text]);
  for (const [path, text] of Object.entries(fixtureLab)) write(join(folder, "lab", path), [text]);
  const dependencies = Object.fromEntries(Object.entries(fixturePlugins).map(([name, { version }]) => [name, version]));
  write(join(folder, "package.json"), [JSON.stringify({ type: "module", dependencies })]);
  write(join(folder, "package-lock.json"), ["{}"]);
}

/** Creates node_modules as npm ci would leave it. */
function fillNodeModules(folder: string): void {
  removeTree(join(folder, "node_modules"));
  for (const [name, manifest] of Object.entries(fixturePlugins)) {
    write(join(folder, "node_modules", name, "package.json"), [JSON.stringify({ name, ...manifest })]);
  }
  symlinkSync(join(repository, "node_modules", "semver"), join(folder, "node_modules", "semver"));
  mkdirSync(join(folder, nodeFolder), { recursive: true });
  symlinkSync(process.execPath, join(folder, nodeFolder, "node"));
  const lock = readFileSync(join(folder, "package-lock.json"));
  const hash = createHash("sha256").update(lock).update(`${process.platform}-${process.arch}`).digest("hex");
  writeFileSync(join(folder, "node_modules", ".sluice-lock"), hash);
}

/** The module cache from which the fake go answers; read-only, like go's. */
function writeModules(folder: string): void {
  for (const [path, text] of Object.entries(fixtureSources)) {
    write(join(folder, path), [text]);
    chmodSync(join(folder, path), 0o444);
    chmodSync(dirname(join(folder, path)), 0o555);
  }
}

/** Even read-only files; for a link, the link. */
function removeTree(...paths: readonly string[]): void {
  const folders = paths.filter((path) => lstatSync(path, { throwIfNoEntry: false })?.isDirectory());
  if (folders.length > 0) execFileSync("chmod", ["-R", "u+w", ...folders]);
  execFileSync("rm", ["-rf", ...paths]);
}

function write(path: string, lines: readonly string[]): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${lines.join("\n")}\n`);
}

function onPath(program: string): string {
  for (const folder of (process.env.PATH ?? "").split(delimiter)) {
    const path = join(folder, program);
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {}
  }
  throw new Error(`there is no ${program} on PATH`);
}
