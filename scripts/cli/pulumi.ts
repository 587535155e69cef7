// `npm run preview|up|refresh|destroy -- <environment> [options]`, and any other call of the CLI: `npm run pulumi -- ...`.
import { parseArgs } from "node:util";
import { environmentList, environments } from "../base/environments.ts";
import { Failure, main } from "../base/fail.ts";
import { root } from "../base/paths.ts";
import { reporting } from "../base/reporting.ts";
import { runAttached } from "../base/run.ts";
import { type StackCommand, stackCommand, stackCommands, toolsFor } from "../deploy/stackCommand.ts";
import { surplusArgument } from "../deploy/surplusArgument.ts";
import { labEnvironment } from "../lab/environment.ts";
import { needLabHost } from "../lab/labHost.ts";
import { takeLab } from "../lab/labOption.ts";
import { backendEnvironment, prepareStack } from "../stack/stack.ts";
import { prepareToolchain, type Toolchain } from "../toolchain/toolchain.ts";

const usage = `npm run pulumi -- <command of the CLI> [its arguments]

Runs the Pulumi CLI with the same backend, plugins and settings as the other commands. 'npm run pulumi -- help' prints the CLI's own help,
'npm run pulumi -- <command> --help' that of a command. preview, up, refresh and destroy are commands of Sluice, with their own --help:
npm run ${stackCommands.join("|")} -- <environment>`;

await main(async () => {
  const [command = "--help", ...args] = process.argv.slice(2);
  if (command === "--help" || command === "-h") {
    console.log(usage);
    return 0;
  }
  const named = stackCommands.find((candidate) => candidate === command);
  if (named !== undefined) return environmentCommand(named, args);
  const toolchain = await prepareToolchain();
  if (command === "config") await makeNamedStack(toolchain, args);
  return runAttached(toolchain.pulumi, [command, ...kept(command, args)], {
    cwd: root,
    env: await backendEnvironment(toolchain),
  });
});

/** A stack must exist before it can be configured, and a new environment begins with its file. */
async function makeNamedStack(toolchain: Toolchain, args: readonly string[]): Promise<void> {
  const { values } = parseArgs({ args: [...args], strict: false, options: { stack: { type: "string", short: "s" } } });
  const name = values.stack;
  if (typeof name === "string" && (await environments()).includes(name)) {
    await prepareStack(toolchain, name, await labEnvironment(name));
  }
}

/** Removing a stack would also remove its settings file, but that file is the environment: only its owner removes it. */
function kept(command: string, args: readonly string[]): readonly string[] {
  const removes = command === "stack" && args[0] === "rm";
  return removes && !args.some((arg) => arg.startsWith("--preserve-config")) ? [...args, "--preserve-config"] : args;
}

/** Of the same name as the cluster on its own platform, it must not be confused with that. */
function rehearsal(name: string, lab: string, isRemembered: boolean): string {
  const since = isRemembered ? `, where --lab put it, until it is destroyed: npm run destroy -- ${name}` : "";
  return `this is the rehearsal of ${name} on the lab '${lab}', not its own platform${since}`;
}

async function environmentCommand(command: StackCommand, args: readonly string[]): Promise<number> {
  const { lab, rest } = takeLab(args);
  const [name, ...options] = rest;
  if (name === "--help" || name === "-h") {
    console.log(
      `npm run ${command} -- <environment> [--lab [<name>]] [options of 'pulumi ${command}']\n\n  --lab [<name>]  on a lab, which simulates its platform on this host; it stays there until it is destroyed: docs/lab.md\n${command === "up" ? "  --no-resume     end after the first run, also where only transient failures ended it: docs/operations.md\n  --new-cluster   begin an empty cluster where every etcd is lost: docs/change.md\n" : ""}\nEnvironments: ${await environmentList()}.`,
    );
    return 0;
  }
  if (name === undefined || name.startsWith("-")) {
    throw new Failure(
      `npm run ${command} -- <environment> [options]: missing environment. Environments: ${await environmentList()}.`,
    );
  }
  if (options.includes("--help") || options.includes("-h")) {
    const { pulumi, environment } = await prepareToolchain();
    return runAttached(pulumi, [command, "--help"], { cwd: root, env: environment });
  }
  const surplus = surplusArgument(options);
  if (surplus !== undefined) {
    throw new Failure(
      `unexpected argument '${surplus}': npm run ${command} takes one environment, and after it options of 'pulumi ${command}'.`,
    );
  }
  const on = await labEnvironment(name, lab);
  if (on !== undefined && command !== "preview") await needLabHost();
  const toolchain = await prepareToolchain(toolsFor(command, on));
  const stack = await reporting("preparing the stack", () => prepareStack(toolchain, name, on));
  if (on?.settings !== undefined) console.error(`sluice: ${rehearsal(name, on.lab, lab === undefined)}`);
  const code = await stackCommand(toolchain, stack, command, options);
  if (command === "destroy" && code === 0) {
    console.log(
      `sluice: to delete the stack as well: npm run pulumi -- stack rm ${name} (Pulumi.${name}.yaml is kept)`,
    );
  }
  return code;
}
