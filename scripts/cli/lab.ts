// `npm run lab -- <command> ...`: calls the lab's program, after building it and the programs that it needs.

import { main } from "../base/fail.ts";
import { runAttached } from "../base/run.ts";
import { labCredentials } from "../lab/credentials.ts";
import { labSetup } from "../lab/environment.ts";
import { commands, readCall } from "../lab/labCommand.ts";
import { needLabHost } from "../lab/labHost.ts";
import { labCall, startOptions } from "../lab/labProcess.ts";
import { clientsIn, pathWithClients } from "../lab/programs.ts";
import { ensureTools } from "../toolchain/ensure.ts";
import { entryFolder } from "../toolchain/entry.ts";
import { charts } from "../toolchain/labTools.ts";
import { labToolsFor, toolNamed } from "../toolchain/tools.ts";

const list = Object.entries(commands).map(([command, what]) => `  ${command.padEnd(10)} ${what}`);

const help = `npm run lab -- [--name <lab>] <command> [options]

A simulated Hetzner project, Proxmox hosts, Talos nodes and their Kubernetes on this machine: docs/lab.md.

${list.join("\n")}

  --name <lab>       which lab; 'default' without it
  <command> --help   its options

exec builds talosctl, helm, kubeseal and flux when a call first mentions them; shell builds all four.
`;

await main(async () => {
  const call = readCall(process.argv.slice(2));
  if (call === undefined) {
    console.log(help);
    return 0;
  }
  const { name, command, args } = call;
  const starts = (command === "up" || command === "run") && !args.includes("--help");
  if (starts) await needLabHost();
  const inside = command === "exec" || command === "shell";
  const ofInside = inside ? [charts, ...clientsIn(command, args)] : [];
  await ensureTools(starts ? labToolsFor() : [toolNamed("sluice-lab"), ...ofInside]);
  const options = starts ? await startOptions(name, await labSetup(name)) : [];
  const [program, labArgs] = labCall(name, command, [...options, ...args]);
  return runAttached(program, labArgs, { env: inside ? insideEnvironment(name) : process.env });
});

/** The charts are not part of the lab: they are installed into its clusters from outside. */
function insideEnvironment(lab: string): NodeJS.ProcessEnv {
  const PATH = pathWithClients(process.env.PATH);
  return { ...process.env, PATH, SLUICE_CHARTS: entryFolder(charts), ...labCredentials(lab) };
}
