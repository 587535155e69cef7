// Which APIs that are going to be removed an API server was asked for since it started, by its own metrics.

/** Calls of a kind of objects in a version of its API. */
export interface DeprecatedCalls {
  /** Such as "networking.k8s.io"; empty for the core. */
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  /** "1.37" */
  readonly removedIn: string;
}

const metric = "apiserver_requested_deprecated_apis";

/** Those that a release of this minor version no longer serves. `metrics` is the API server's answer at /metrics. */
export function deprecatedCalls(metrics: string, toMinor: number): readonly DeprecatedCalls[] {
  const found = metrics.split("\n").flatMap((line) => {
    const [, labels = "", value = ""] = new RegExp(`^${metric}\\{([^}]*)\\} (\\S+)`).exec(line) ?? [];
    const label = (name: string) => new RegExp(`(?:^|,)${name}="([^"]*)"`).exec(labels)?.[1] ?? "";
    const removedIn = label("removed_release");
    const [, minor] = /^1\.(\d+)$/.exec(removedIn) ?? [];
    if (minor === undefined || Number(minor) > toMinor || !(Number(value) > 0)) return [];
    return [{ group: label("group"), version: label("version"), resource: label("resource"), removedIn }];
  });
  // A line for each subresource.
  return [...new Map(found.map((calls) => [nameOf(calls), calls])).values()];
}

/** "servicecidrs.v1beta1.networking.k8s.io", as kubectl has it. */
export function nameOf({ resource, version, group }: Omit<DeprecatedCalls, "removedIn">): string {
  return [resource, version, group].filter((part) => part !== "").join(".");
}

/** Where its objects are listed. */
export function listPath(name: string): string {
  const [resource = "", version = "", ...group] = name.split(".");
  return group.length === 0 ? `/api/${version}/${resource}` : `/apis/${group.join(".")}/${version}/${resource}`;
}

interface Managed {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly managedFields?: readonly { readonly manager?: string; readonly apiVersion?: string }[];
  };
}

/** Who wrote objects in this version of the API, by the names under which they did: "helm". An object is named for each. */
export function writersOf(objects: readonly Managed[], name: string): readonly string[] {
  const [, version = "", ...group] = name.split(".");
  const apiVersion = [group.join("."), version].filter((part) => part !== "").join("/");
  const writers = new Map<string, string>();
  for (const { metadata } of objects) {
    for (const entry of metadata.managedFields ?? []) {
      if (entry.apiVersion !== apiVersion || entry.manager === undefined || writers.has(entry.manager)) continue;
      writers.set(entry.manager, [metadata.namespace, metadata.name].filter(Boolean).join("/"));
    }
  }
  return [...writers].map(([manager, object]) => `${manager} (${object})`);
}
