// The names of resources in texts for users.

/** The kind of a resource, of its type: `hcloud:index/loadBalancerService:LoadBalancerService` is a "load balancer service". */
export function kindOf(type: string): string {
  if (type.startsWith(providers)) return `provider ${type.slice(providers.length)}`;
  const kind = (type.split(/[:/]/).at(-1) ?? type).replace(/Legacy$/, "");
  return kind.replace(/(?<=[a-z])(?=[A-Z])/g, " ").toLowerCase();
}

const providers = "pulumi:providers:";

/** Whether stability windows are waited for in a resource. */
export function hasWindow(type: string): boolean {
  return gateOf(type) !== undefined || /^(?:pulumi-nodejs:dynamic\/)?chain:StableGates$/.test(type);
}

/** The gate that a resource represents; undefined for any other resource. */
export function gateOf(type: string): string | undefined {
  return /^(?:pulumi-nodejs:dynamic\/)?gates:(\w+)$/.exec(type)?.[1];
}
