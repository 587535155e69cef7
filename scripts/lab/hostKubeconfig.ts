import { parse, stringify } from "yaml";

/**
 * The kubeconfig of a cluster in a lab for programs on this machine, where a port leads into the lab. The API server does not know
 * that it is called so, but by one of its own names.
 */
export function hostKubeconfig(kubeconfig: string, address: string): string {
  const config = parse(kubeconfig);
  for (const { cluster } of config.clusters) {
    cluster.server = `https://${address}`;
    cluster["tls-server-name"] = "kubernetes.default.svc";
  }
  return stringify(config);
}
