// First step of every npm script: `node scripts/run.mjs <command> [arguments]`.
// Plain JavaScript for the machine's own Node (20 or later). It installs the locked packages when they are missing or
// changed, among them the Node that the program runs on, and hands over to scripts/<command>.ts on that one.
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import { dirname, join } from "node:path";
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

const node = join(root, "node_modules", `node-${process.platform}-${process.arch}`, "bin", "node");
installPackages();
runCommand();

function installPackages() {
  // What decides what npm ci installs. The stamp lies inside node_modules, so that it goes when that goes.
  const lock = createHash("sha256")
    .update(readFileSync(join(root, "package-lock.json")))
    .update(`${process.platform}-${process.arch}`)
    .digest("hex");
  const stamp = join(root, "node_modules", ".sluice-lock");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === lock && existsSync(node)) return;

  console.error("sluice: installing npm packages (npm ci, about a minute when npm's cache is empty) ...");
  const started = Date.now();
  // Nothing we use needs an install script; without them nothing but the registry is reached.
  const npm = spawnSync("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], {
    cwd: root,
    stdio: ["ignore", 2, 2],
    // A production setting would leave the checks' packages out.
    env: { ...process.env, NODE_ENV: "development" },
  });
  if (npm.error || npm.status !== 0) {
    const cause = npm.error ? npm.error.message : `it ended with ${npm.status ?? npm.signal}`;
    console.error(`sluice: npm ci failed: ${cause}. To repeat it: cd ${root} && npm ci --ignore-scripts`);
    process.exit(1);
  }
  if (!existsSync(node)) {
    console.error(
      `sluice: there is no Node 24 package for ${process.platform}-${process.arch}. ` +
        "It runs on linux-x64 and linux-arm64; package.json lists them under optionalDependencies.",
    );
    process.exit(1);
  }
  mkdirSync(dirname(stamp), { recursive: true });
  writeFileSync(stamp, lock);
  console.error(`sluice: npm packages installed in ${Math.round((Date.now() - started) / 1000)} s`);
}

function runCommand() {
  const path = [dirname(node), join(root, "node_modules", ".bin"), process.env.PATH].join(":");
  const child = spawn(
    node,
    ["--disable-warning=ExperimentalWarning", join(root, "scripts", `${command}.ts`), ...args],
    {
      stdio: "inherit",
      env: { ...process.env, PATH: path },
    },
  );
  // On Ctrl-C the terminal tells the child as well; it ends in its own time and this process waits for it.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    process.on(signal, () => signal !== "SIGINT" && child.kill(signal));
  }
  child.on("error", (error) => {
    console.error(`sluice: cannot start ${node}: ${error.message}`);
    process.exit(1);
  });
  child.on("close", (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
}
