// `npm run preview|up|refresh|destroy -- <environment> [options]`, and any other call of the CLI: `npm run pulumi -- ...`.
import { prepareToolchain } from "./toolchain/toolchain.ts";
import { Failure, main } from "./workspace/fail.ts";
import { root } from "./workspace/paths.ts";
import { runAttached } from "./workspace/run.ts";
import { backendEnvironment, environments, prepareStack } from "./workspace/stack.ts";

const stackCommands = ["preview", "up", "refresh", "destroy"];

await main(async () => {
  const [command = "--help", ...args] = process.argv.slice(2);
  if (stackCommands.includes(command)) return stackCommand(command, args);
  const toolchain = await prepareToolchain();
  return runAttached(toolchain.pulumi, [command, ...args], { cwd: root, env: await backendEnvironment(toolchain) });
});

async function stackCommand(command: string, args: readonly string[]): Promise<number> {
  const [name, ...options] = args;
  if (name === "--help" || name === "-h") {
    console.log(
      `npm run ${command} -- <environment> [options of 'pulumi ${command}']\n\nEnvironments: ${(await environments()).join(", ")}.`,
    );
    return 0;
  }
  if (name === undefined || name.startsWith("-")) {
    throw new Failure(
      `npm run ${command} -- <environment> [options]: which environment? There are: ${(await environments()).join(", ")}.`,
    );
  }
  const toolchain = await prepareToolchain();
  const stack = await prepareStack(toolchain, name);
  return runAttached(toolchain.pulumi, [command, ...stack.options, ...options], { cwd: root, env: stack.environment });
}
