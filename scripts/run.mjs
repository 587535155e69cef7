// First step of every npm script: `node scripts/run.mjs <command> [arguments]`.
// Plain JavaScript for the machine's own Node (20 or later). It installs the locked packages when they are missing or
// changed, among them the Node that the program runs on, and runs the command on that one: scripts/cli/<command>.ts is for
// users, scripts/tools/<command>.ts for contributors.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const [command, ...args] = process.argv.slice(2);

const commands = new Map(["cli", "tools"].flatMap(commandsIn));
const script = commands.get(command);
if (script === undefined) {
  console.error(`sluice: unknown command '${command ?? ""}'. Commands: ${[...commands.keys()].sort().join(", ")}.`);
  process.exit(2);
}

const platform = `${process.platform}-${process.arch}`;
const node = join(root, "node_modules", `node-${platform}`, "bin", "node");
// Inside node_modules, so that it is removed together with that.
const stamp = join(root, "node_modules", ".sluice-lock");
// Node's compile cache is there too: the program, its providers and every command load the same thousand files.
const compiled = join(root, "node_modules", ".cache", "node");

if (!isInstalled()) {
  const release = await onlyOne();
  try {
    if (!isInstalled()) await installPackages();
  } finally {
    release();
  }
}
runCommand();

/** The commands in a folder of scripts/, with their files. */
function commandsIn(folder) {
  const path = join(root, "scripts", folder);
  const files = readdirSync(path).filter((name) => name.endsWith(".ts"));
  return files.map((name) => [name.slice(0, -".ts".length), join(path, name)]);
}

function isInstalled() {
  return existsSync(stamp) && readFileSync(stamp, "utf8") === lockHash() && existsSync(node);
}

/** A hash of everything that npm ci depends on. */
function lockHash() {
  const lock = readFileSync(join(root, "package-lock.json"));
  return createHash("sha256").update(lock).update(platform).digest("hex");
}

async function installPackages() {
  console.error("sluice: installing npm packages (npm ci, about a minute when npm's cache is empty) ...");
  const started = Date.now();
  const seconds = () => Math.round((Date.now() - started) / 1000);
  // No package needs an install script; without them only the registry is called. The user's npm settings may exclude packages that are needed here: those of
  // the check, and Node, which is an optional package per platform.
  const needed = ["ci", "--ignore-scripts", "--include=dev", "--include=optional"];
  const npm = spawn("npm", [...needed, "--no-audit", "--no-fund", "--loglevel=error"], {
    cwd: root,
    stdio: ["ignore", 2, 2],
    env: { ...process.env, NODE_ENV: "development" },
  });
  const timer = setInterval(() => console.error(`sluice: npm ci, ${seconds()} s ...`), 5_000);
  const cause = await new Promise((done) => {
    npm.on("error", (error) => done(error.code === "ENOENT" ? "" : error.message));
    npm.on("close", (code, signal) => done(code === 0 ? undefined : `it ended with ${code ?? signal}`));
  });
  clearInterval(timer);
  if (cause === "") fail("npm is not on PATH. It comes with Node: https://nodejs.org");
  if (cause !== undefined) {
    fail(`npm ci failed: ${cause}. To repeat it: cd '${root}' && npm ${needed.join(" ")}`);
  }
  if (!existsSync(node)) {
    fail(
      `there is no Node 24 package for ${platform}. ` +
        "It runs on linux-x64 and linux-arm64; package.json lists them under optionalDependencies.",
    );
  }
  writeFileSync(stamp, lockHash());
  console.error(`sluice: npm packages installed in ${seconds()} s`);
}

/**
 * npm ci first removes node_modules, so two installations in one checkout break each other. Waits until no other run installs, and returns the function that
 * lets the next one install.
 */
async function onlyOne() {
  const mark = join(root, ".work", "installing");
  mkdirSync(dirname(mark), { recursive: true });
  for (let told = false; ; told = true) {
    try {
      writeFileSync(mark, String(process.pid), { flag: "wx" });
      process.on("exit", release);
      return release;
    } catch (error) {
      if (error.code !== "EEXIST") throw error;
    }
    if (isLeftBehind(mark)) rmSync(mark, { force: true });
    else if (!told) console.error("sluice: another run installs npm packages here; waiting for it");
    await new Promise((done) => setTimeout(done, 200));
  }
  function release() {
    process.off("exit", release);
    rmSync(mark, { force: true });
  }
}

/** Does not use scripts/base/processIdentity.ts: the machine's own Node may not run TypeScript. */
function isLeftBehind(mark) {
  try {
    // So old that its process number may have been reused.
    if (Date.now() - statSync(mark).mtimeMs > 600_000) return true;
    process.kill(Number(readFileSync(mark, "utf8")) || process.pid, 0);
    return false;
  } catch (error) {
    return error.code === "ESRCH";
  }
}

function runCommand() {
  const path = [dirname(node), join(root, "node_modules", ".bin"), process.env.PATH ?? ""].join(delimiter);
  let child;
  // On Ctrl-C the child gets the signal from the terminal; it ends in its own time while this process waits.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    process.on(signal, () => signal !== "SIGINT" && child.kill(signal));
  }
  child = spawn(node, ["--disable-warning=ExperimentalWarning", script, ...args], {
    stdio: "inherit",
    env: { ...process.env, PATH: path, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE || compiled },
  });
  child.on("error", (error) => fail(`cannot start ${node}: ${error.message}`));
  child.on("close", (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
}

function fail(message) {
  console.error(`sluice: ${message}`);
  process.exit(1);
}
