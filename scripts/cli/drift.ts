// `npm run drift -- <environment>`: compares what exists with the state. Changes nothing.
import { readSettingsFile } from "../../stacks/config/settingsFile.ts";
import { readEnvironmentCall } from "../base/commandLine.ts";
import { settingsFile } from "../base/environments.ts";
import { EventLog } from "../base/eventLog.ts";
import { Failure, main } from "../base/fail.ts";
import { root } from "../base/paths.ts";
import { passReportsOn, run } from "../base/run.ts";
import { type Drift, driftHeadline, driftReport, exitCodes, readDrift, withOrphans } from "../drift/report.ts";
import { labEnvironment } from "../lab/environment.ts";
import { runningLab } from "../lab/labProcess.ts";
import { orphanTitles } from "../orphans/settleOrphans.ts";
import { engineCall } from "../stack/engine.ts";
import { backendEnvironment, prepareStack } from "../stack/stack.ts";
import { prepareToolchain } from "../toolchain/toolchain.ts";
import { recordDrift } from "../workflows/driftIssue.ts";
import { gitHub } from "../workflows/github.ts";
import { maskSecrets } from "../workflows/maskSecrets.ts";
import { annotate, runAddress } from "../workflows/workflowRun.ts";

const usage = `npm run drift -- <environment> [--details] [--issue]

Compares what exists with the state and changes nothing.
Exit codes: ${exitCodes.none} no drift, or not deployed; ${exitCodes.found} drift; ${exitCodes.unseen} no drift in what could be checked, but not everything could be;
${exitCodes.failed} the comparison failed.

  --details  print the engine's comparison too, field by field
  --issue    in a GitHub workflow: open, update or close the environment's drift issue`;

await main(async () => {
  const call = await readEnvironmentCall(usage, { issue: { type: "boolean" }, details: { type: "boolean" } });
  if (call === undefined) return 0;
  const { environment, values } = call;
  readSettingsFile(await settingsFile(environment));
  const github = values.issue ? gitHub() : undefined;
  const found = await findDrift(environment);
  if (found === undefined) {
    annotate("notice", `${environment} is not deployed in this backend: nothing to compare.`);
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
  /** The engine's own output. */
  readonly details: string;
}

/** Undefined if the environment has no resources in the backend. */
async function findDrift(environment: string): Promise<Found | undefined> {
  const toolchain = await prepareToolchain();
  const listed = await run(toolchain.pulumi, ["stack", "ls", "--json"], {
    cwd: root,
    env: await backendEnvironment(toolchain),
  });
  if (listed.code !== 0) throw new Failure(`cannot read the backend:\n${listed.stderr.trim()}`);
  const stacks: { name: string; resourceCount?: number }[] = JSON.parse(listed.stdout);
  const stack = stacks.find(({ name }) => name.split("/").at(-1) === environment);
  if (stack === undefined || stack.resourceCount === 0) return undefined;

  const prepared = await prepareStack(toolchain, environment, await labEnvironment(environment));
  if (prepared.lab !== undefined) await needLab(prepared.lab.lab, environment);
  const log = new EventLog();
  const flags = ["--preview-only", "--diff", "--non-interactive", "--color", "never", "--event-log", log.path];
  const call = await engineCall(toolchain, prepared, ["refresh", ...prepared.options, ...flags]);
  // The engine has the option --event-log only with this variable.
  const env = { ...call.env, PULUMI_DEBUG_COMMANDS: "true" };
  const [{ stdout, stderr }, orphans] = await Promise.all([
    run(call.program, call.args, { cwd: root, env, onOutput: passReportsOn }),
    orphanTitles(toolchain, prepared),
  ]);
  const drift = readDrift(log.whole().toString(), `${stdout}${stderr}`);
  log.close();
  return { drift: withOrphans(drift, orphans), details: stdout.trim() };
}

/** When a lab has ended, nothing of the environment is left, so there is no point in starting a lab to find that out. */
async function needLab(lab: string, environment: string): Promise<void> {
  if ((await runningLab(lab)) !== undefined) return;
  throw new Failure(
    `${environment} is on the lab '${lab}', which is not running: nothing to compare. 'npm run up -- ${environment}' starts it.`,
  );
}
