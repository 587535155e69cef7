// `npm start`: builds what is missing, brings up the dev environment and prints what to do with it.

import { onlyHelp } from "../base/commandLine.ts";
import { main, needAll } from "../base/fail.ts";
import { reporting } from "../base/reporting.ts";
import { nextSteps } from "../deploy/nextSteps.ts";
import { stackCommand, toolsFor } from "../deploy/stackCommand.ts";
import { labEnvironment } from "../lab/environment.ts";
import { needLabHost } from "../lab/labHost.ts";
import { prepareStack } from "../stack/stack.ts";
import { needBuild } from "../toolchain/ensure.ts";
import { prepareToolchain } from "../toolchain/toolchain.ts";

const environment = "dev";

const usage = `npm start

Brings up the environment ${environment} on a lab on this host, after building what is missing, and prints what to do next. It needs no account.
It is 'npm run up -- ${environment}' without questions; every other environment is brought up in that way.`;

await main(async () => {
  if (onlyHelp(usage)) return 0;
  const lab = await labEnvironment(environment);
  const tools = toolsFor("up", lab);
  await reporting("checking this machine", () => needAll([needLabHost(), needBuild(tools)]));
  const toolchain = await prepareToolchain(tools);
  const stack = await reporting("preparing the stack", () => prepareStack(toolchain, environment, lab));
  if (stack.local !== undefined) {
    console.log(`sluice: state: ${stack.local.state}, its passphrase: ${stack.local.passphrase}; git ignores both`);
  }
  // The lists of a preview and of outputs would hide the summary.
  const code = await stackCommand(toolchain, stack, "up", ["--yes", "--skip-preview", "--suppress-outputs"]);
  if (code === 0) console.log(nextSteps(environment, stack.lab?.lab));
  return code;
});
