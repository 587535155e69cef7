// `npm run drift -- <environment>`: whether what is there still is what the state says. Changes nothing.
import { parseArgs } from "node:util";
import { runningLab } from "./lab/life.ts";
import { prepareToolchain } from "./toolchain/toolchain.ts";
import { recordDrift } from "./workflows/driftIssue.ts";
import { driftHeadline, driftReport, readDrift } from "./workflows/driftReport.ts";
import { gitHub } from "./workflows/github.ts";
import { maskSecrets } from "./workflows/maskSecrets.ts";
import { annotate, runAddress } from "./workflows/workflowRun.ts";
import { engineCall } from "./workspace/engine.ts";
import { environmentList, settingsFile } from "./workspace/environments.ts";
import { Failure, main } from "./workspace/fail.ts";
import { root } from "./workspace/paths.ts";
import { run } from "./workspace/run.ts";
import { backendEnvironment, prepareStack } from "./workspace/stack.ts";

const driftFound = 2;

await main(async () => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { issue: { type: "boolean" }, help: { type: "boolean" } },
  });
  const [environment] = positionals;
  if (values.help || environment === undefined) {
    const usage = `npm run drift -- <environment> [--issue]

Compares what is there with the state and changes nothing.
Ends with 0: no drift, or not deployed; ${driftFound}: drift; 1: could not be compared.

  --issue   in a GitHub workflow: open, update or close the environment's drift issue

Environments: ${await environmentList()}.`;
    if (!values.help) throw new Failure(usage);
    console.log(usage);
    return 0;
  }
  await settingsFile(environment);
  const github = values.issue ? gitHub() : undefined;
  const drift = await findDrift(environment);
  if (drift === undefined) {
    annotate("notice", `${environment} is not deployed from this backend: there is nothing to compare.`);
    return 0;
  }
  console.log(driftReport(environment, drift));
  if (values.issue && drift.state !== "none") annotate("warning", driftHeadline(environment, drift));
  if (github !== undefined) {
    const masked = "text" in drift ? { ...drift, text: maskSecrets(drift.text) } : drift;
    console.log(`issue: ${await recordDrift(github, environment, masked, runAddress())}`);
  }
  return { none: 0, found: driftFound, failed: 1 }[drift.state];
});

/** Undefined where the environment has no resources in the backend. */
async function findDrift(environment: string) {
  const toolchain = await prepareToolchain();
  const listed = await run(toolchain.pulumi, ["stack", "ls", "--json"], {
    cwd: root,
    env: await backendEnvironment(toolchain),
  });
  if (listed.code !== 0) throw new Failure(`the backend cannot be read:\n${listed.stderr.trim()}`);
  const stacks: { name: string; resourceCount?: number }[] = JSON.parse(listed.stdout);
  const stack = stacks.find(({ name }) => name.split("/").at(-1) === environment);
  if (stack === undefined || stack.resourceCount === 0) return undefined;

  const prepared = await prepareStack(toolchain, environment);
  if (prepared.lab !== undefined) await needLab(prepared.lab.lab, environment);
  const flags = ["--preview-only", "--expect-no-changes", "--diff", "--non-interactive", "--color", "never"];
  const call = await engineCall(toolchain, prepared, ["refresh", ...prepared.options, ...flags]);
  return readDrift(await run(call.program, call.args, { cwd: root, env: call.env }));
}

/** Of what was in a lab that is gone nothing is left: to start one in order to find that out would say nothing. */
async function needLab(lab: string, environment: string): Promise<void> {
  if ((await runningLab(lab)) !== undefined) return;
  throw new Failure(
    `${environment} is on the lab '${lab}', which does not run: there is nothing to compare with. 'npm run up -- ${environment}' starts it.`,
  );
}
