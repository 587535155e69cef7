import { parse, stringify } from "yaml";

/** Talos writes the endpoint that the nodes use, which need not be the one that leads in from outside. */
export function withServer(kubeconfig: string, server: string): string {
  const { clusters = [], ...rest } = parse(kubeconfig) as { readonly clusters?: readonly Cluster[] };
  const moved = clusters.map(({ cluster, ...named }) => ({ ...named, cluster: { ...cluster, server } }));
  return stringify({ ...rest, clusters: moved }, { lineWidth: 0 });
}

interface Cluster {
  readonly cluster: Readonly<Record<string, unknown>>;
}
