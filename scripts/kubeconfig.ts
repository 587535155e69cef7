import { labCommand } from "./lab/call.ts";
import { labEnvironment } from "./lab/environment.ts";
import { hostKubeconfig } from "./lab/hostKubeconfig.ts";
import { runningLab } from "./lab/life.ts";
import { writeAccessFile } from "./workspace/accessFile.ts";
import { Failure } from "./workspace/fail.ts";

await writeAccessFile({
  output: "kubeconfig",
  variable: "KUBECONFIG",
  async adapt(environment, text) {
    const on = await labEnvironment(environment);
    if (on === undefined) return { text };
    const running = await runningLab(on.lab);
    if (running === undefined) {
      throw new Failure(
        `the lab '${on.lab}' does not run, and the cluster of ${environment} is gone with it: 'npm run up -- ${environment}' makes another.`,
      );
    }
    const inside = labCommand(on.lab, "exec", "--", "kubectl get nodes");
    return {
      text: hostKubeconfig(text, running.kubernetes),
      notes: [`It leads through a port on this machine into the lab. Inside it needs no file: ${inside}`],
    };
  },
});
