// `npm start`: everything it takes, then the dev environment, and what to do with it.
import { nextSteps } from "./start/nextSteps.ts";
import { prepareToolchain } from "./toolchain/toolchain.ts";
import { main } from "./workspace/fail.ts";
import { prepareStack } from "./workspace/stack.ts";
import { stackCommand } from "./workspace/stackCommand.ts";

const environment = "dev";

await main(async () => {
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
