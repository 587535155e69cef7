import { parse, stringify } from "yaml";

/** Talos writes the endpoint that nodes use, which may differ from the public one. */
export function withServer(kubeconfig: string, server: string): string {
  const { clusters = [], ...rest } = parse(kubeconfig) as { readonly clusters?: readonly Cluster[] };
  const moved = clusters.map(({ cluster, ...named }) => ({ ...named, cluster: { ...cluster, server } }));
  return stringify({ ...rest, clusters: moved }, { lineWidth: 0 });
}

interface Cluster {
  readonly cluster: Readonly<Record<string, unknown>>;
}
