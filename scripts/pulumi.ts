// `npm run preview|up|refresh|destroy -- <environment> [options]`, and any other call of the CLI: `npm run pulumi -- ...`.
import { parseArgs } from "node:util";
import { takeLab } from "./lab/takeLab.ts";
import { prepareToolchain, type Toolchain } from "./toolchain/toolchain.ts";
import { environmentList, environments } from "./workspace/environments.ts";
import { Failure, main } from "./workspace/fail.ts";
import { root } from "./workspace/paths.ts";
import { runAttached } from "./workspace/run.ts";
import { backendEnvironment, prepareStack } from "./workspace/stack.ts";
import { type StackCommand, stackCommand, stackCommands } from "./workspace/stackCommand.ts";

const usage = `npm run pulumi -- <command of the CLI> [its arguments]

The Pulumi CLI, with the same backend, plugins and settings as the other commands. 'npm run pulumi -- help' is the CLI's own help,
and 'npm run pulumi -- <command> --help' that of a command. preview, up, refresh and destroy are commands of ours, each with its help:
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

/** A stack has to be there before it can be configured, and an environment of one's own begins with a file. */
async function makeNamedStack(toolchain: Toolchain, args: readonly string[]): Promise<void> {
  const { values } = parseArgs({ args: [...args], strict: false, options: { stack: { type: "string", short: "s" } } });
  const name = values.stack;
  if (typeof name === "string" && (await environments()).includes(name)) await prepareStack(toolchain, name);
}

/** Removing a stack would take its settings file along, but here that is the environment: only its owner removes it. */
function kept(command: string, args: readonly string[]): readonly string[] {
  const removes = command === "stack" && args[0] === "rm";
  return removes && !args.some((arg) => arg.startsWith("--preserve-config")) ? [...args, "--preserve-config"] : args;
}

async function environmentCommand(command: StackCommand, args: readonly string[]): Promise<number> {
  const { lab, rest } = takeLab(args);
  const [name, ...options] = rest;
  if (name === "--help" || name === "-h") {
    console.log(
      `npm run ${command} -- <environment> [--lab [<name>]] [options of 'pulumi ${command}']\n\n  --lab [<name>]  on a lab, which plays its platform on this machine; it stays there until it is destroyed: docs/lab.md\n\nEnvironments: ${await environmentList()}.`,
    );
    return 0;
  }
  if (name === undefined || name.startsWith("-")) {
    throw new Failure(
      `npm run ${command} -- <environment> [options]: which environment? There are: ${await environmentList()}.`,
    );
  }
  const toolchain = await prepareToolchain();
  if (options.includes("--help") || options.includes("-h")) {
    return runAttached(toolchain.pulumi, [command, "--help"], { cwd: root, env: toolchain.environment });
  }
  const stack = await prepareStack(toolchain, name, lab);
  if (lab === undefined && stack.lab?.settings !== undefined) {
    console.error(`sluice: ${name} is on the lab '${stack.lab.lab}', where --lab has put it, until it is destroyed`);
  }
  const code = await stackCommand(toolchain, stack, command, options);
  if (command === "destroy" && code === 0) {
    console.log(`sluice: here that is 'npm run pulumi -- stack rm ${name}'; Pulumi.${name}.yaml stays`);
  }
  return code;
}
