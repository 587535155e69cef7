// Where the engine starts the program, on whatever Node is on PATH. Plain JavaScript: an older Node could not even read index.ts, and would end with a
// stack trace that says nothing about Node.
import { RunError } from "@pulumi/pulumi";

const needed = 24;

if (Number.parseInt(process.versions.node, 10) < needed || !process.features.typescript) {
  const installed = `node_modules/node-${process.platform}-${process.arch}/bin`;
  throw new RunError(
    `Sluice runs on Node ${needed}, which runs TypeScript: the 'node' on PATH, ${process.versions.node}, does not. 'npm ci' installed Node ${needed} in this folder: ` +
      `export PATH="$PWD/${installed}:$PATH" and run the same command again. The npm commands, such as 'npm run preview -- dev', do this by themselves.`,
  );
}

// `npm run adopt` runs another program, which takes a running cluster into the state. docs/decisions/adoption.md
export default await (process.env.SLUICE_ADOPTION ? import("./stacks/adoptionProgram.ts") : import("./index.ts"));
