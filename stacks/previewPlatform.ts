// What a preview by the Pulumi CLI alone asks of the platform. The npm commands have asked before the engine starts, with the ids in the state, which a program
// does not know.
import * as pulumi from "@pulumi/pulumi";
import { askedVariable, askPlatform, platformFailure, platformSilence, platformWarnings } from "./askPlatform.ts";
import type { ClusterConfig } from "./schema/clusterConfig.ts";

export async function previewPlatform(config: ClusterConfig, environment: string): Promise<void> {
  if (process.env[askedVariable]) return;
  const { token } = await config.platform.resources(config);
  const { lab } = config;
  const answers = await askPlatform(config, {
    environment,
    token: token?.given,
    reason: lab && `this runs outside the lab '${lab.name}'`,
    isSettled: false,
  });
  for (const warning of platformWarnings(answers)) await pulumi.log.warn(warning);
  const silence = platformSilence(answers, config.platform);
  if (silence !== undefined) await pulumi.log.info(silence);
  const failure = platformFailure(answers, `Pulumi.${environment}.yaml`);
  if (failure !== undefined) throw new pulumi.RunError(failure.message);
}
