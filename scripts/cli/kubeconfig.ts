import { Failure } from "../base/fail.ts";
import { labEnvironment } from "../lab/environment.ts";
import { hostKubeconfig } from "../lab/hostKubeconfig.ts";
import { labCommand } from "../lab/labCommand.ts";
import { runningLab } from "../lab/labProcess.ts";
import { writeCredentialsFile } from "../stack/credentialsFile.ts";

await writeCredentialsFile({
  output: "kubeconfig",
  variable: "KUBECONFIG",
  async adapt(environment, text) {
    const on = await labEnvironment(environment);
    if (on === undefined) return { text };
    const running = await runningLab(on.lab);
    if (running === undefined) {
      throw new Failure(
        `the lab '${on.lab}' is not running, and the cluster of ${environment} ended with it: 'npm run up -- ${environment}' creates another.`,
      );
    }
    const inside = labCommand(on.lab, "exec", "--", "kubectl get nodes");
    return {
      text: hostKubeconfig(text, running.kubernetes),
      notes: [`It uses a port of this host that leads into the lab. Inside the lab no file is needed: ${inside}`],
    };
  },
});
