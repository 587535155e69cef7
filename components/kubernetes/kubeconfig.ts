import { parse } from "yaml";

/** Where a cluster is and what opens it, as its kubeconfig says. */
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
 * Reads a kubeconfig that holds all it needs in itself, as those of Talos do. Not by the official library: to load it takes half a second, and it
 * is for programs, files and providers that this one never names.
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
    // The parser's own words quote the text, and with it the key.
  }
  throw new Error("the kubeconfig is not one: it cannot be read as YAML");
}

function decoded(base64: string | undefined): Buffer | undefined {
  return base64 === undefined ? undefined : Buffer.from(base64, "base64");
}
