// Runs a script where the engine of an environment runs: on this host, or inside its lab.
import { join } from "node:path";
import { Failure } from "../base/fail.ts";
import { root } from "../base/paths.ts";
import { type Ended, run } from "../base/run.ts";
import { runningLab } from "../lab/labProcess.ts";
import { callBesideEngine, type EnginePlace } from "../stack/engine.ts";
import { backendEnvironment } from "../stack/stack.ts";
import type { Toolchain } from "../toolchain/toolchain.ts";

export interface Place {
  readonly toolchain: Toolchain;
  readonly name: string;
  readonly lab: EnginePlace["lab"];
}

/** `script` is a path below scripts/; it reads `input` as JSON. `onText` is called with what it reports meanwhile. */
export async function runInside(
  { toolchain, name, lab }: Place,
  script: string,
  input: object,
  { timeoutMs, onText }: { readonly timeoutMs: number; readonly onText?: (text: string) => void },
): Promise<Ended> {
  if (lab !== undefined && (await runningLab(lab.lab)) === undefined) {
    throw new Failure(
      `the lab '${lab.lab}' is not running, and the cluster of ${name} ended with it: 'npm run up -- ${name}' creates another.`,
    );
  }
  const environment = await backendEnvironment(toolchain);
  const file = join(root, "scripts", script);
  const call = await callBesideEngine({ lab, environment }, process.execPath, [
    "--disable-warning=ExperimentalWarning",
    file,
  ]);
  return run(call.program, call.args, {
    cwd: root,
    env: call.env,
    input: JSON.stringify(input),
    timeout: timeoutMs,
    onOutput: (text, stream) => void (stream === "stderr" && onText?.(text)),
  });
}
