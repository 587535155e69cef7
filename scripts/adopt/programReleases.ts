// The Helm releases of an environment, as the program registers them with the engine: without an engine, a state or a network.
import { unknownValue } from "@pulumi/pulumi/runtime/rpc.js";
import { record, text } from "../../components/model/untyped.ts";
import { deployCluster } from "../../stacks/cluster.ts";
import type { ClusterConfig } from "../../stacks/schema/clusterConfig.ts";
import { observeRegistrations } from "../graph/registrations.ts";

export interface WantedRelease {
  /** Its name in the program. */
  readonly resource: string;
  readonly component: { readonly type: string; readonly name: string };
  readonly namespace: string;
  readonly name: string;
  readonly chart: string;
  readonly version: string;
  /** Without what is known only once the program has run. */
  readonly values: Readonly<Record<string, unknown>>;
  /** The paths of these values. */
  readonly unknown: readonly string[];
  /** All that the program asks for. */
  readonly inputs: Readonly<Record<string, unknown>>;
}

export const releaseType = "kubernetes:helm.sh/v3:Release";

export async function programReleases(config: ClusterConfig): Promise<readonly WantedRelease[]> {
  const found: WantedRelease[] = [];
  // Declared machine secrets would be offered to a plugin.
  const plain: ClusterConfig = { ...config, machineSecrets: undefined };
  const mocks = { newResource: () => ({ id: undefined, state: {} }), call: () => ({}) };
  await observeRegistrations(
    () => deployCluster(plain),
    { stack: config.clusterName, isPreview: true, mocks },
    {
      onResource(request) {
        if (request.getType() !== releaseType) return;
        // Set by the SDK, and removed by the plugin.
        const { compat: _, ...inputs } = record(request.getObject()?.toJavaScript());
        const { namespace, name, chart, version, values } = inputs;
        const parts = partition(record(values));
        found.push({
          resource: request.getName(),
          component: componentOf(request.getParent()),
          namespace: text(namespace),
          name: text(name),
          chart: text(chart).replace(/^.*\//, ""),
          version: text(version),
          ...parts,
          inputs,
        });
      },
    },
  );
  return found;
}

function componentOf(urn: string): WantedRelease["component"] {
  const [, , types = "", name = ""] = urn.replace(/^urn:pulumi:/, "").split("::");
  return { type: types.split("$").at(-1) ?? "", name };
}

/** Splits values into those that are known, and the paths of the others. */
function partition(values: Readonly<Record<string, unknown>>, above = ""): Pick<WantedRelease, "values" | "unknown"> {
  const known: Record<string, unknown> = {};
  const unknown: string[] = [];
  for (const [key, value] of Object.entries(values)) {
    const path = above === "" ? key : `${above}.${key}`;
    if (value === unknownValue) unknown.push(path);
    else if (typeof value === "object" && value !== null && !Array.isArray(value)) {
      const inner = partition(record(value), path);
      known[key] = inner.values;
      unknown.push(...inner.unknown);
    } else known[key] = value;
  }
  return { values: known, unknown };
}
