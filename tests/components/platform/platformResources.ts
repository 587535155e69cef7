// The resources of a component of the platform, in short form.
import * as kubernetes from "@pulumi/kubernetes";
import { type RecordedResource, type Recording, record } from "../../support/mocks.ts";

export const releaseType = "kubernetes:helm.sh/v3:Release";

/** Runs a component under a provider. */
export async function recordPlatform(
  make: (provider: kubernetes.Provider) => unknown,
  preview = false,
): Promise<Omit<Recording<unknown>, "resources"> & { readonly resources: readonly RecordedResource[] }> {
  const recording = await record(() => make(new kubernetes.Provider("kubernetes")), { preview });
  return { ...recording, resources: recording.resources.filter(({ type }) => type !== "pulumi:providers:kubernetes") };
}

/** Type, name, inputs and dependencies; the rest is the same for all. */
export function summary(resources: readonly RecordedResource[]) {
  return resources
    .filter(({ type }) => !type.startsWith("sluice:"))
    .map(({ type, name, parent, inputs, dependencies }) => ({ type, name, parent, inputs, dependencies }));
}

/** Inputs of a release that a test does not check separately. */
export function release(chart: string, repository: string, version: string, name: string, namespace: string) {
  return {
    chart,
    repositoryOpts: { repo: repository },
    version,
    name,
    namespace,
    skipAwait: true,
    maxHistory: 5,
    compat: "true",
  };
}
