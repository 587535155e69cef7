// `npm run drift -- <environment>`: whether what is there still is what the state says. Changes nothing.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Drift, driftHeadline, driftReport, exitCodes, readDrift } from "./drift/report.ts";
import { runningLab } from "./lab/life.ts";
import { prepareToolchain } from "./toolchain/toolchain.ts";
import { recordDrift } from "./workflows/driftIssue.ts";
import { gitHub } from "./workflows/github.ts";
import { maskSecrets } from "./workflows/maskSecrets.ts";
import { annotate, runAddress } from "./workflows/workflowRun.ts";
import { readEnvironmentCall } from "./workspace/commandLine.ts";
import { engineCall } from "./workspace/engine.ts";
import { settingsFile } from "./workspace/environments.ts";
import { Failure, main } from "./workspace/fail.ts";
import { root } from "./workspace/paths.ts";
import { run } from "./workspace/run.ts";
import { backendEnvironment, prepareStack } from "./workspace/stack.ts";
import { temporaryFolder } from "./workspace/temporary.ts";

const usage = `npm run drift -- <environment> [--details] [--issue]

Compares what is there with the state and changes nothing.
Ends with ${exitCodes.none}: no drift, or not deployed; ${exitCodes.found}: drift; ${exitCodes.unseen}: no drift in what could be looked at, which is not all;
${exitCodes.failed}: could not be compared.

  --details the engine's own comparison too, field by field
  --issue   in a GitHub workflow: open, update or close the environment's drift issue`;

await main(async () => {
  const call = await readEnvironmentCall(usage, { issue: { type: "boolean" }, details: { type: "boolean" } });
  if (call === undefined) return 0;
  const { environment, values } = call;
  await settingsFile(environment);
  const github = values.issue ? gitHub() : undefined;
  const found = await findDrift(environment);
  if (found === undefined) {
    annotate("notice", `${environment} is not deployed from this backend: there is nothing to compare.`);
    return 0;
  }
  const { drift, details } = found;
  if (values.details) console.log(`${details}\n`);
  console.log(driftReport(environment, drift));
  if (values.issue && drift.state !== "none") annotate("warning", driftHeadline(environment, drift));
  if (github !== undefined) {
    console.log(`issue: ${await recordDrift(github, environment, drift, { run: runAddress(), mask: maskSecrets })}`);
  }
  return exitCodes[drift.state];
});

interface Found {
  readonly drift: Drift;
  /** The engine's own words for it. */
  readonly details: string;
}

/** Undefined where the environment has no resources in the backend. */
async function findDrift(environment: string): Promise<Found | undefined> {
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
  const log = join(temporaryFolder(), "events.json");
  await writeFile(log, "", { mode: 0o600 });
  const flags = ["--preview-only", "--diff", "--non-interactive", "--color", "never", "--event-log", log];
  const call = await engineCall(toolchain, prepared, ["refresh", ...prepared.options, ...flags]);
  // Without it the engine has no option for a record of its events.
  const env = { ...call.env, PULUMI_DEBUG_COMMANDS: "true" };
  const { stdout, stderr } = await run(call.program, call.args, { cwd: root, env });
  const drift = readDrift(await readFile(log, "utf8"), `${stdout}${stderr}`);
  return { drift, details: stdout.trim() };
}

/** Of what was in a lab that is gone nothing is left: to start one in order to find that out would say nothing. */
async function needLab(lab: string, environment: string): Promise<void> {
  if ((await runningLab(lab)) !== undefined) return;
  throw new Failure(
    `${environment} is on the lab '${lab}', which does not run: there is nothing to compare with. 'npm run up -- ${environment}' starts it.`,
  );
}
