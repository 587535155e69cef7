// Resolves package.json into package-lock.json: `npm run lock` after a change of dependencies.
//
// npm omits from the lock file what the current registry does not carry, such as packages for other platforms, and then `npm ci` refuses the file as
// incomplete. Such optional packages are added by name, with the platform that their name contains, so that npm skips them here and finds them where the
// registry has them.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { onlyHelp } from "../base/commandLine.ts";
import { Failure, main } from "../base/fail.ts";
import { root } from "../base/paths.ts";
import { runAttached } from "../base/run.ts";

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
      if (os === undefined)
        throw new Failure(
          `the registry does not have the optional ${name} ${version}, and its name contains no platform`,
        );
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
