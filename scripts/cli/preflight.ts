// `npm run preflight -- <environment>`: the gate Preflight on its own. Changes nothing.
import { preflight } from "../../components/gates/preflight.ts";
import { diskChoice } from "../../components/talos/config/installDisk.ts";
import { readClusterConfigFile } from "../../stacks/config/configFile.ts";
import type { ClusterConfig } from "../../stacks/schema/clusterConfig.ts";
import { readEnvironmentCall } from "../base/commandLine.ts";
import { settingsFile } from "../base/environments.ts";
import { Failure, main } from "../base/fail.ts";
import { reporting } from "../base/reporting.ts";
import { checkPlatform } from "../inspect/checkPlatform.ts";
import { deployedNodes } from "../inspect/deployed.ts";
import { runInside } from "../inspect/inLab.ts";
import type { PreflightAnswer, PreflightCall } from "../inspect/preflightInside.ts";
import { labEnvironment } from "../lab/environment.ts";
import { clusterFrom, tokenIn } from "../orphans/settleOrphans.ts";
import { exportedWithSecrets } from "../stack/credentials.ts";
import { prepareStack, type Stack } from "../stack/stack.ts";
import { prepareToolchain, type Toolchain } from "../toolchain/toolchain.ts";

/** After the gate's own deadline: the platform is asked first. */
const graceMs = 30_000;
const exitCodes = { open: 0, failed: 1, closed: 2 } as const;

const usage = `npm run preflight -- <environment>

Waits for the gate Preflight as 'up' does, before an 'up': whether every machine that exists answers, is the one meant, has the disk that Talos is installed to,
and runs a Talos that can read its config. Before that the platform's API is asked for what the environment names, as 'preview' and 'up' do. Changes nothing. Machines that only 'up' creates are named.
Exit codes: ${exitCodes.open} the gate opens, or there is no machine yet; ${exitCodes.failed} it could not be checked; ${exitCodes.closed} it stays closed, or the platform does not have what is named.`;

await main(async () => {
  const call = await readEnvironmentCall(usage, {});
  if (call === undefined) return 0;
  const { environment } = call;
  const file = await settingsFile(environment);
  const lab = await labEnvironment(environment);
  const { config } = readClusterConfigFile(file, lab?.settings);
  const toolchain = await prepareToolchain();
  const stack = await prepareStack(toolchain, environment, lab);
  const { notes, failure } = await checkPlatform(toolchain, stack);
  for (const note of [...notes, ...(failure === undefined ? [] : [failure])]) console.error(`sluice: ${note}`);
  if (failure !== undefined) return exitCodes.closed;
  const input = await preflightCall(toolchain, stack, config);
  const timeoutMs = input.deadlineSeconds * 1000 + graceMs;
  let waitsFor = "";
  const onText = (text: string) => {
    waitsFor = text.trim().split("\n").at(-1) ?? "";
  };
  const print = () => void process.stderr.write(`sluice: waiting: ${waitsFor}\n`);
  const place = { toolchain, name: environment, lab };
  const ask = () => runInside(place, "inspect/preflightInside.ts", input, { timeoutMs, onText });
  const ended = await reporting("waiting for Preflight", ask, print);
  if (ended.code !== 0) throw new Failure(`Preflight of ${environment} could not be checked:\n${ended.stderr.trim()}`);
  const answer: PreflightAnswer = JSON.parse(ended.stdout);
  if (answer.kind === "unknown")
    throw new Failure(`the machines of ${environment} cannot be listed: ${answer.message}`);
  if (answer.kind === "closed") {
    console.error(`sluice: ${answer.message}`);
    return exitCodes.closed;
  }
  if (answer.words !== "") console.log(`Preflight is open: ${answer.words}`);
  if (answer.missing.length > 0) {
    console.log(
      `No machine yet, so nothing to check: ${answer.missing.join(", ")}. 'npm run up -- ${environment}' creates them.`,
    );
  }
  return exitCodes.open;
});

async function preflightCall(toolchain: Toolchain, stack: Stack, config: ClusterConfig): Promise<PreflightCall> {
  const { platform, nodes, install, talosVersion, timeouts } = config;
  const { timeout } = preflight;
  const account = platform.account?.token;
  const token =
    account === undefined || stack.lab !== undefined ? undefined : await tokenIn(toolchain, stack, account.key);
  const [deployed] = deployedNodes(await exportedWithSecrets(toolchain, stack.name));
  return {
    ...clusterFrom(config),
    ...(token !== undefined && { token }),
    ...(account !== undefined && { variable: account.variable }),
    nodes: nodes.map(({ name, role, address, mac, uuid, install: own }) => {
      const { disk, diskSelector } = diskChoice(install, own);
      return { name, role, address, ...(mac && { mac }), ...(uuid && { uuid }), install: { disk, diskSelector } };
    }),
    talosVersion,
    // Before the first 'up' there are none: a machine in maintenance shows its own certificate to anybody.
    credentials: deployed?.credentials ?? { ca: "", crt: "", key: "" },
    deadlineSeconds: (timeouts as Readonly<Record<string, number>>)[timeout.key] ?? timeout.seconds,
  };
}
