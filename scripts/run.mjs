// First step of every npm script: `node scripts/run.mjs <command> [arguments]`.
// Plain JavaScript for the machine's own Node (20 or later). It installs the locked packages when they are missing or
// changed, among them the Node that the program runs on, and hands over to scripts/<command>.ts on that one.
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const [command, ...args] = process.argv.slice(2);

const commands = readdirSync(join(root, "scripts"))
  .filter((name) => name.endsWith(".ts"))
  .map((name) => name.slice(0, -".ts".length));
if (!commands.includes(command)) {
  console.error(`sluice: no command '${command ?? ""}'. There are: ${commands.join(", ")}.`);
  process.exit(2);
}

const platform = `${process.platform}-${process.arch}`;
const node = join(root, "node_modules", `node-${platform}`, "bin", "node");
// Lies inside node_modules, so that it goes when that goes.
const stamp = join(root, "node_modules", ".sluice-lock");
// As does what Node has compiled: the program, its providers and every command load the same thousand files.
const compiled = join(root, "node_modules", ".cache", "node");

if (!isInstalled()) {
  const release = await onlyOne();
  try {
    if (!isInstalled()) installPackages();
  } finally {
    release();
  }
}
runCommand();

function isInstalled() {
  return existsSync(stamp) && readFileSync(stamp, "utf8") === lockHash() && existsSync(node);
}

/** What decides what npm ci installs. */
function lockHash() {
  const lock = readFileSync(join(root, "package-lock.json"));
  return createHash("sha256").update(lock).update(platform).digest("hex");
}

function installPackages() {
  console.error("sluice: installing npm packages (npm ci, about a minute when npm's cache is empty) ...");
  const started = Date.now();
  // Nothing we use needs an install script; without them nothing but the registry is reached. What a person's own
  // settings leave out elsewhere is needed here: the checks' packages, and Node, which is optional for each platform.
  const needed = ["ci", "--ignore-scripts", "--include=dev", "--include=optional"];
  const npm = spawnSync("npm", [...needed, "--no-audit", "--no-fund", "--loglevel=error"], {
    cwd: root,
    stdio: ["ignore", 2, 2],
    env: { ...process.env, NODE_ENV: "development" },
  });
  if (npm.error?.code === "ENOENT") fail("there is no npm on PATH. It comes with Node: https://nodejs.org");
  if (npm.error || npm.status !== 0) {
    const cause = npm.error ? npm.error.message : `it ended with ${npm.status ?? npm.signal}`;
    fail(`npm ci failed: ${cause}. To repeat it: cd '${root}' && npm ${needed.join(" ")}`);
  }
  if (!existsSync(node)) {
    fail(
      `there is no Node 24 package for ${platform}. ` +
        "It runs on linux-x64 and linux-arm64; package.json lists them under optionalDependencies.",
    );
  }
  writeFileSync(stamp, lockHash());
  console.error(`sluice: npm packages installed in ${Math.round((Date.now() - started) / 1000)} s`);
}

/**
 * npm ci begins by removing node_modules: two at once in one checkout spoil it for both. Waits until no other run is
 * at it, and returns what lets the next one.
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

function isLeftBehind(mark) {
  try {
    // Long enough that its process number may have gone to another process.
    if (Date.now() - statSync(mark).mtimeMs > 600_000) return true;
    process.kill(Number(readFileSync(mark, "utf8")) || process.pid, 0);
    return false;
  } catch (error) {
    return error.code === "ESRCH";
  }
}

function runCommand() {
  const path = [dirname(node), join(root, "node_modules", ".bin"), process.env.PATH ?? ""].join(delimiter);
  const script = join(root, "scripts", `${command}.ts`);
  let child;
  // On Ctrl-C the terminal tells the child as well; it ends in its own time and this process waits for it.
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
