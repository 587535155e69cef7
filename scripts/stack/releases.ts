// Helm releases whose last operation was interrupted are made ready for the next.
import { join } from "node:path";
import type { UnfinishedRelease } from "../../components/kubernetes/releaseRecords.ts";
import { record } from "../../components/model/untyped.ts";
import { root } from "../base/paths.ts";
import { run } from "../base/run.ts";
import { labCall } from "../lab/labProcess.ts";
import type { Toolchain } from "../toolchain/toolchain.ts";
import { stackCredentials } from "./credentials.ts";
import type { SettlementCall } from "./settleRecords.ts";
import type { Stack } from "./stack.ts";

const settlement = join(root, "scripts", "stack", "settleRecords.ts");

const releaseType = "kubernetes:helm.sh/v3:Release";

/** The API may still be away: then the next run fails in the same way, and this is tried again. */
const timeoutMs = 30_000;

/** A release as the inputs of its resource name it; undefined for another type, or where they are not known. */
export function releaseOf(
  type: unknown,
  inputs: unknown,
): Pick<UnfinishedRelease, "namespace" | "name" | "wanted"> | undefined {
  const { namespace, name, version, values } = record(inputs);
  if (type !== releaseType || typeof namespace !== "string" || typeof name !== "string") return undefined;
  return { namespace, name, wanted: { version, values } };
}

/** Never throws: the next run reports what is wrong. */
export async function settleReleases(
  toolchain: Toolchain,
  stack: Stack,
  releases: readonly UnfinishedRelease[],
): Promise<void> {
  if (releases.length === 0) return;
  try {
    const { kubeconfig } = await stackCredentials(toolchain, stack.name);
    if (kubeconfig === undefined) return;
    const input: SettlementCall = { kubeconfig, releases };
    const node = [process.execPath, settlement] as const;
    const [program, args] =
      stack.lab === undefined ? [node[0], [node[1]]] : labCall(stack.lab.lab, "exec", ["--", ...node]);
    const { stdout } = await run(program, args, { cwd: root, input: JSON.stringify(input), timeout: timeoutMs });
    for (const change of stdout.split("\n").filter((line) => line !== "")) {
      console.error(`sluice: an operation of Helm was interrupted, and is repeated: record ${change}`);
    }
  } catch {
    // As above.
  }
}
