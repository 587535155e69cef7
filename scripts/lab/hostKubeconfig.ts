import { parse, stringify } from "yaml";

/**
 * The kubeconfig of a lab's cluster for programs on this host, through a port that leads into the lab. The API server's certificate does not contain that
 * address, so it is verified by one of its own names.
 */
export function hostKubeconfig(kubeconfig: string, address: string): string {
  const config = parse(kubeconfig);
  for (const { cluster } of config.clusters) {
    cluster.server = `https://${address}`;
    cluster["tls-server-name"] = "kubernetes.default.svc";
  }
  return stringify(config);
}
