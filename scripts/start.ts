// `npm start`: everything it takes, then the dev environment, and what to do with it.
import { nextSteps } from "./start/nextSteps.ts";
import { prepareToolchain } from "./toolchain/toolchain.ts";
import { onlyHelp } from "./workspace/commandLine.ts";
import { main } from "./workspace/fail.ts";
import { prepareStack } from "./workspace/stack.ts";
import { stackCommand } from "./workspace/stackCommand.ts";

const environment = "dev";

const usage = `npm start

Brings up the environment ${environment} on a lab on this machine, with everything that it takes, and says what to do
with it. It takes no account. It is 'npm run up -- ${environment}' without questions; every environment has that.`;

await main(async () => {
  if (onlyHelp(usage)) return 0;
  const toolchain = await prepareToolchain();
  const stack = await prepareStack(toolchain, environment);
  if (stack.local !== undefined) {
    console.log(`sluice: state in ${stack.local.state}, its passphrase in ${stack.local.passphrase}; git ignores both`);
  }
  // The lists of a preview and of outputs would hide what is told at the end.
  const code = await stackCommand(toolchain, stack, "up", ["--yes", "--skip-preview", "--suppress-outputs"]);
  if (code === 0) console.log(nextSteps(environment, stack.lab?.lab));
  return code;
});
