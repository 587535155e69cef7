// `npm run lab -- <command> ...`: calls the lab's own program, after building what is missing of it and of what it runs.
import { join } from "node:path";
import { commands, readCall } from "./lab/call.ts";
import { labPrograms, writeProgramPaths } from "./lab/programs.ts";
import { ensureTools } from "./toolchain/ensure.ts";
import { entryFolder, programPath } from "./toolchain/entry.ts";
import { charts } from "./toolchain/labTools.ts";
import { toolNamed } from "./toolchain/tools.ts";
import { Failure, main } from "./workspace/fail.ts";
import { workFolder } from "./workspace/paths.ts";
import { runAttached } from "./workspace/run.ts";

const list = Object.entries(commands).map(([command, what]) => `  ${command.padEnd(10)} ${what}`);

const help = `npm run lab -- <command> [--name <lab>] [options]

A Hetzner project, Talos nodes and their Kubernetes, played on this machine. docs/lab.md tells what to do with it.

${list.join("\n")}

  --name <lab>       which lab, where there are several: 'default' if none is named
  <command> --help   its options
`;

await main(async () => {
  const call = readCall(process.argv.slice(2));
  if (call === undefined) {
    console.log(help);
    return 0;
  }
  if (process.platform !== "linux") {
    throw new Failure(`the lab needs network namespaces, which Linux alone has; this is ${process.platform}.`);
  }
  const { name, command, args } = call;
  const starts = (command === "up" || command === "run") && !args.includes("--help");
  const program = toolNamed("sluice-lab");
  const inside = command === "exec" || command === "shell";
  await ensureTools(starts ? labPrograms : [program, ...(inside ? [charts] : [])]);
  const labs = join(workFolder, "lab");
  const options = ["--dir", join(labs, name)];
  if (starts) {
    const file = join(labs, "tools.json");
    await writeProgramPaths(file);
    options.push("--tools", file);
  }
  // What one installs into clusters is nothing that the lab plays, so it does not know of it.
  const env = inside ? { ...process.env, SLUICE_CHARTS: entryFolder(charts) } : process.env;
  return runAttached(programPath(program), [command, ...options, ...args], { env });
});
