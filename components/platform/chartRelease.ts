import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { parse } from "yaml";
import type { Values } from "./mergeValues.ts";

/** A chart of a publisher, and the name of its release. */
export interface Chart {
  readonly name: string;
  /** Where it is published: an index over https, or a registry as `oci://<host>/<path>`. */
  readonly repository: string;
  /** The release's name. A HelmRelease in git with the same release name and target namespace takes over what is installed. */
  readonly release: string;
  readonly namespace: string;
}

/** The arguments of everything that is installed as a chart. */
export interface ChartArgs {
  /** The chart's version, in full. */
  readonly version: string;
  /** A folder that contains the chart under its name, relative to the project. Default: the chart is fetched from its repository. */
  readonly charts?: string | undefined;
}

/** Installs a chart without waiting for its pods: a gate does that, and reports more. docs/decisions/helm-releases.md */
export function chartRelease(
  name: string,
  chart: Chart,
  args: ChartArgs & { readonly values: Values },
  opts: pulumi.CustomResourceOptions,
): kubernetes.helm.v3.Release {
  return new kubernetes.helm.v3.Release(
    name,
    {
      ...chartSource(chart, args),
      version: args.version,
      name: chart.release,
      namespace: chart.namespace,
      values: args.values,
      skipAwait: true,
      // Each revision is a Secret in etcd, and Helm's own default is to keep all.
      maxHistory: 5,
    },
    opts,
  );
}

function chartSource(
  chart: Chart,
  { charts, version }: ChartArgs,
): Pick<kubernetes.helm.v3.ReleaseArgs, "chart" | "repositoryOpts"> {
  if (charts === undefined) {
    // For Helm a registry is a part of the chart's name.
    return chart.repository.startsWith("oci://")
      ? { chart: `${chart.repository}/${chart.name}` }
      : { chart: chart.name, repositoryOpts: { repo: chart.repository } };
  }
  const folder = join(charts, chart.name);
  const found = chartVersion(folder);
  if (found === version) return { chart: folder };
  // Helm installs any version that is in a folder.
  throw new pulumi.RunError(
    found === undefined
      ? `charts.path: ${folder} holds no chart, but ${chart.name} ${version} is to be installed from there: put it there. For an environment on a lab the npm commands do that: npm run preview -- ${pulumi.getStack()}`
      : `charts.path: ${folder} is version ${found}, but ${version} is configured: set that version, or replace the chart`,
  );
}

function chartVersion(folder: string): string | undefined {
  const file = join(folder, "Chart.yaml");
  return existsSync(file) ? parse(readFileSync(file, "utf8"), { schema: "failsafe" }).version : undefined;
}
