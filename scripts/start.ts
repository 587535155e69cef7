import { prepareToolchain } from "./toolchain/toolchain.ts";
import { main } from "./workspace/fail.ts";
import { root } from "./workspace/paths.ts";
import { runAttached } from "./workspace/run.ts";
import { checkStack, prepareStack } from "./workspace/stack.ts";

const environment = "dev";

const nextSteps = [
  [`npm run render -- ${environment}`, "each node's machine config, secrets masked"],
  ["npm run preview -- home", "the same program for a Proxmox cluster; it needs no account"],
  ["cp Pulumi.home.yaml Pulumi.mine.yaml", "an environment of your own: edit it, then npm run preview -- mine"],
  [`npm run destroy -- ${environment}`, "take it away again"],
] as const;

await main(async () => {
  const toolchain = await prepareToolchain();
  const stack = await prepareStack(toolchain, environment);
  if (stack.local !== undefined) {
    console.log(`sluice: state in ${stack.local.state}, its passphrase in ${stack.local.passphrase}; git ignores both`);
  }
  await checkStack(toolchain, stack);
  const code = await runAttached(toolchain.pulumi, ["up", "--yes", ...stack.options], {
    cwd: root,
    env: stack.environment,
  });
  if (code !== 0) return code;
  console.log(`\nNext:\n${columns(nextSteps)}`);
  return 0;
});

function columns(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([command]) => command.length));
  return rows.map(([command, purpose]) => `  ${command.padEnd(width)}  ${purpose}`).join("\n");
}
