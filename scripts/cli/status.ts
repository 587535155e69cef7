// `npm run status -- <environment>`: every node as it is now. Takes no lock, and changes nothing.
import { readEnvironmentCall } from "../base/commandLine.ts";
import { settingsFile } from "../base/environments.ts";
import { Failure, main } from "../base/fail.ts";
import { deployedNodes } from "../inspect/deployed.ts";
import { runInside } from "../inspect/inLab.ts";
import { exitCodes, isHealthy, type NodeReport, statusLines } from "../inspect/nodeReport.ts";
import type { StatusCall } from "../inspect/statusInside.ts";
import { labEnvironment } from "../lab/environment.ts";
import { credentialsIn, exportedWithSecrets } from "../stack/credentials.ts";
import { prepareToolchain } from "../toolchain/toolchain.ts";

/** The nodes have four seconds; starting a process in a lab takes another. */
const timeoutMs = 15_000;

const usage = `npm run status -- <environment>

Asks every node that has got its config, all at the same time, and prints whether it is reachable, its stage, Talos version and schematic, whether
it runs the config that it was sent, its etcd role, and whether Kubernetes reports it Ready. Takes seconds, also where nothing answers, and no lock:
it works during an 'up'.
Exit codes: ${exitCodes.healthy} all nodes are healthy, or nothing is deployed; ${exitCodes.unknown} nothing could be asked; ${exitCodes.unhealthy} some node is not as it should be.`;

await main(async () => {
  const call = await readEnvironmentCall(usage, {});
  if (call === undefined) return 0;
  const { environment } = call;
  await settingsFile(environment);
  const [toolchain, lab] = [await prepareToolchain(), await labEnvironment(environment)];
  const exported = await exportedWithSecrets(toolchain, environment);
  const nodes = deployedNodes(exported);
  if (nodes.length === 0) {
    console.log(`${environment}: no node has got its config yet: 'npm run up -- ${environment}' deploys it.`);
    return exitCodes.healthy;
  }
  const { kubeconfig } = credentialsIn(exported);
  const input: StatusCall = { nodes, kubeconfig };
  const ended = await runInside({ toolchain, name: environment, lab }, "inspect/statusInside.ts", input, { timeoutMs });
  if (ended.code !== 0) throw new Failure(`the nodes of ${environment} could not be asked:\n${ended.stderr.trim()}`);
  const reports: readonly NodeReport[] = JSON.parse(ended.stdout);
  for (const line of statusLines(reports)) console.log(line);
  return reports.every(isHealthy) ? exitCodes.healthy : exitCodes.unhealthy;
});
