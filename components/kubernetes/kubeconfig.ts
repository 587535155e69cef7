import { parse } from "yaml";

/** Where a cluster is, and the credentials for it, from its kubeconfig. */
export interface ClusterAccess {
  readonly server: string;
  /** PEM. */
  readonly ca: Buffer | undefined;
  readonly cert: Buffer | undefined;
  readonly key: Buffer | undefined;
  readonly token: string | undefined;
}

interface Kubeconfig {
  readonly "current-context"?: string;
  readonly contexts?: readonly Named<"context", { readonly cluster?: string; readonly user?: string }>[];
  readonly clusters?: readonly Named<
    "cluster",
    { readonly server?: string; readonly "certificate-authority-data"?: string }
  >[];
  readonly users?: readonly Named<
    "user",
    { readonly "client-certificate-data"?: string; readonly "client-key-data"?: string; readonly token?: string }
  >[];
}

type Named<Key extends string, Value> = { readonly name?: string } & { readonly [K in Key]?: Value };

/**
 * Reads a kubeconfig that contains everything inline, as those of Talos do. The official library takes half a second to load, mostly for programs, files and
 * auth providers that such a kubeconfig never uses.
 */
export function readKubeconfig(text: string): ClusterAccess {
  const config = parsed(text);
  const current = config.contexts?.find(({ name }) => name === config["current-context"])?.context;
  const cluster = config.clusters?.find(({ name }) => name === current?.cluster)?.cluster;
  const user = config.users?.find(({ name }) => name === current?.user)?.user;
  if (cluster?.server === undefined) throw new Error("the kubeconfig names no cluster");
  return {
    server: cluster.server,
    ca: decoded(cluster["certificate-authority-data"]),
    cert: decoded(user?.["client-certificate-data"]),
    key: decoded(user?.["client-key-data"]),
    token: user?.token,
  };
}

function parsed(text: string): Kubeconfig {
  try {
    const config: unknown = parse(text);
    if (typeof config === "object" && config !== null) return config as Kubeconfig;
  } catch {
    // The parser's own message quotes the text, and so the key.
  }
  throw new Error("the kubeconfig cannot be read as YAML");
}

function decoded(base64: string | undefined): Buffer | undefined {
  return base64 === undefined ? undefined : Buffer.from(base64, "base64");
}
