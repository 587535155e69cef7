// `npm run lab -- <command> ...`: calls the lab's own program, after building what is missing of it and of what it runs.
import { labAccess } from "./lab/access.ts";
import { commands, readCall } from "./lab/call.ts";
import { labCall, needLinux, startOptions } from "./lab/life.ts";
import { labPrograms } from "./lab/programs.ts";
import { ensureTools } from "./toolchain/ensure.ts";
import { entryFolder } from "./toolchain/entry.ts";
import { charts } from "./toolchain/labTools.ts";
import { toolNamed } from "./toolchain/tools.ts";
import { main } from "./workspace/fail.ts";
import { runAttached } from "./workspace/run.ts";

const list = Object.entries(commands).map(([command, what]) => `  ${command.padEnd(10)} ${what}`);

const help = `npm run lab -- [--name <lab>] <command> [options]

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
  needLinux();
  const { name, command, args } = call;
  const starts = (command === "up" || command === "run") && !args.includes("--help");
  const inside = command === "exec" || command === "shell";
  await ensureTools(starts ? [...labPrograms, charts] : [toolNamed("sluice-lab"), ...(inside ? [charts] : [])]);
  const [program, labArgs] = labCall(name, command, [...(starts ? await startOptions(name) : []), ...args]);
  // What one installs into clusters is nothing that the lab plays, so it does not know of it.
  const env = inside ? { ...process.env, SLUICE_CHARTS: entryFolder(charts), ...labAccess(name) } : process.env;
  return runAttached(program, labArgs, { env });
});
