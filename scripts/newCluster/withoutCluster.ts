// A state without its lost cluster: without resources in Kubernetes, the bootstrap and the gates. Machines, secrets and machine configs stay.
import { list, record, text } from "../../components/model/untyped.ts";

export const bootstrapType = "pulumi-nodejs:dynamic/talos:Bootstrap";

const gatePrefix = "pulumi-nodejs:dynamic/gates:";

/** A deployment as `pulumi stack export` prints it, without these resources and without references to them. */
export function withoutCluster(deployment: unknown): Readonly<Record<string, unknown>> {
  const all = list(record(deployment).resources).map(record);
  const lost = new Set(all.filter(({ type }) => isOfCluster(text(type))).map(({ urn }) => text(urn)));
  const kept = all.filter(({ urn }) => !lost.has(text(urn)));
  return { ...record(deployment), resources: kept.map((resource) => withoutReferences(resource, lost)) };
}

function isOfCluster(type: string): boolean {
  return type === bootstrapType || type.startsWith("kubernetes:") || type.startsWith(gatePrefix);
}

function withoutReferences({ deletedWith, ...resource }: Readonly<Record<string, unknown>>, lost: ReadonlySet<string>) {
  const isKept = (urn: unknown) => !lost.has(text(urn));
  const { dependencies, propertyDependencies } = resource;
  const properties = Object.entries(record(propertyDependencies)).map(([key, urns]) => [
    key,
    list(urns).filter(isKept),
  ]);
  return {
    ...resource,
    ...(dependencies !== undefined && { dependencies: list(dependencies).filter(isKept) }),
    ...(propertyDependencies !== undefined && { propertyDependencies: Object.fromEntries(properties) }),
    ...(deletedWith !== undefined && isKept(deletedWith) && { deletedWith }),
  };
}
