// `npm run sdk`: generates sdks/talos, the SDK of the Talos plugin, from the plugin that is built here.
import { cp, glob, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { readOptions } from "../base/commandLine.ts";
import { Failure, main } from "../base/fail.ts";
import { root, workFolder } from "../base/paths.ts";
import { run } from "../base/run.ts";
import { ensureTools } from "../toolchain/ensure.ts";
import { programPath } from "../toolchain/entry.ts";
import { toolNamed } from "../toolchain/tools.ts";

const sdk = join(root, "sdks", "talos");

await main(async () => {
  const usage = "npm run sdk -- [--check]\n\nGenerates sdks/talos; with --check only reports whether it would change.";
  const call = readOptions(usage, { check: { type: "boolean" } });
  if (call === undefined) return 0;
  const made = await generate();
  if (!call.values.check) {
    for (const name of await filesOf(sdk)) await rm(join(sdk, name));
    await cp(made, sdk, { recursive: true });
    console.log("sluice: sdks/talos is generated");
    return 0;
  }
  const stale = await differences(made);
  if (stale.length > 0) {
    throw new Failure(
      `sdks/talos is not up to date with the plugin's schema: ${stale.join(", ")}. Run \`npm run sdk\`.`,
    );
  }
  console.log("sluice: sdks/talos is up to date with the plugin's schema");
  return 0;
});

/** Generates the SDK and compiles it, as in its npm package, because Node does not strip types below node_modules. */
async function generate(): Promise<string> {
  const tool = toolNamed("plugins");
  await ensureTools([tool]);
  const sources = join(workFolder, "sdk", "src");
  const made = join(workFolder, "sdk", "made");
  await rm(join(workFolder, "sdk"), { recursive: true, force: true });
  await mkdir(sources, { recursive: true });
  await must(programPath(tool, "talos-sdk"), [sources]);
  const compilerOptions = {
    target: "es2022",
    lib: ["es2022"],
    module: "node16",
    types: ["node"],
    strict: true,
    declaration: true,
    stripInternal: true,
    skipLibCheck: true,
    rootDir: ".",
    outDir: made,
  };
  await writeFile(join(sources, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["**/*.ts"] }));
  await must("tsc", ["-p", sources]);
  const manifest = JSON.parse(await readFile(join(sources, "package.json"), "utf8"));
  // As a part of this checkout it uses the checkout's @pulumi/pulumi: a second copy would be a second runtime.
  const { scripts: _scripts, dependencies, devDependencies: _dev, ...rest } = manifest;
  const published = { ...rest, main: "index.js", types: "index.d.ts", peerDependencies: dependencies };
  await writeFile(join(made, "package.json"), `${JSON.stringify(published, null, 2)}\n`);
  return made;
}

async function must(program: string, args: readonly string[]): Promise<void> {
  const ended = await run(program, args, { cwd: root });
  if (ended.code !== 0) throw new Failure(`${program} failed:\n${ended.stdout}${ended.stderr}`);
}

async function differences(made: string): Promise<string[]> {
  const names = new Set([...(await filesOf(made)), ...(await filesOf(sdk))]);
  const content = (folder: string, name: string) => readFile(join(folder, name), "utf8").catch(() => undefined);
  const stale: string[] = [];
  for (const name of [...names].sort()) {
    if ((await content(made, name)) !== (await content(sdk, name))) stale.push(name);
  }
  return stale;
}

async function filesOf(folder: string): Promise<string[]> {
  const names: string[] = [];
  for await (const entry of glob("**/*", { cwd: folder, withFileTypes: true, exclude: ["node_modules"] })) {
    if (entry.isFile()) names.push(join(entry.parentPath, entry.name).slice(folder.length + 1));
  }
  return names;
}
