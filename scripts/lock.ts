// Resolves package.json into package-lock.json: `npm run lock` after a change of dependencies.
//
// npm leaves out of the lock file what the registry at hand does not carry, also packages for platforms that nobody
// here runs, and then `npm ci` refuses the file as incomplete. Such optional packages are written in by name, with
// the platform that their name tells, so that npm skips them here and finds them where they are to be had.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { onlyHelp } from "./workspace/commandLine.ts";
import { Failure, main } from "./workspace/fail.ts";
import { root } from "./workspace/paths.ts";
import { runAttached } from "./workspace/run.ts";

interface Package {
  version?: string;
  optional?: boolean;
  os?: string[];
  cpu?: string[];
  libc?: string[];
  optionalDependencies?: Record<string, string>;
}

const systems = ["android", "darwin", "freebsd", "linux", "openharmony", "win32"];
const processors = ["arm64", "arm", "ia32", "loong64", "ppc64", "riscv64", "s390x", "x64"];

await main(async () => {
  if (onlyHelp("npm run lock\n\nResolves package.json into package-lock.json, completed for other platforms."))
    return 0;
  const code = await runAttached("npm", ["install", "--package-lock-only", "--ignore-scripts"], { cwd: root });
  if (code !== 0) throw new Failure(`npm install ended with ${code}`);
  const file = join(root, "package-lock.json");
  const lock: { packages: Record<string, Package> } = JSON.parse(await readFile(file, "utf8"));
  const added = missingOptionals(lock.packages);
  Object.assign(lock.packages, added);
  await writeFile(file, `${JSON.stringify(lock, null, 2)}\n`);
  console.log(`sluice: package-lock.json is complete; ${Object.keys(added).length} packages are for other platforms`);
  return 0;
});

function missingOptionals(packages: Readonly<Record<string, Package>>): Record<string, Package> {
  const added: Record<string, Package> = {};
  for (const { optionalDependencies = {} } of Object.values(packages)) {
    for (const [name, version] of Object.entries(optionalDependencies)) {
      if (packages[`node_modules/${name}`] !== undefined) continue;
      const os = systems.find((system) => name.includes(`-${system}-`));
      const cpu = processors.find((processor) => name.includes(`-${processor}`));
      if (os === undefined) throw new Failure(`${name} ${version} is optional, cannot be had, and names no platform`);
      added[`node_modules/${name}`] = {
        version,
        optional: true,
        os: [os],
        ...(cpu === undefined ? {} : { cpu: [cpu] }),
        ...(name.endsWith("-musl") ? { libc: ["musl"] } : {}),
      };
    }
  }
  return added;
}
