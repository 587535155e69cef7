// An application as users have it: two replicas on different nodes, a budget that lets one go at a time, a Service, and one pod with a volume.
import type { Chain } from "./chain.ts";

const labels = { app: "shop" };
const container = { name: "it", image: "shop:1", ports: [{ containerPort: 8080 }] };

export const shop = "shop";

function objects(storage: boolean): readonly object[] {
  const spread = {
    maxSkew: 1,
    topologyKey: "kubernetes.io/hostname",
    whenUnsatisfiable: "ScheduleAnyway",
    labelSelector: { matchLabels: labels },
  };
  const template = {
    metadata: { labels },
    spec: { containers: [container], topologySpreadConstraints: [spread], terminationGracePeriodSeconds: 1 },
  };
  const data = { name: "data", persistentVolumeClaim: { claimName: "data" } };
  return [
    {
      ...{ apiVersion: "apps/v1", kind: "Deployment", metadata: { name: shop } },
      spec: { replicas: 2, selector: { matchLabels: labels }, template },
    },
    {
      ...{ apiVersion: "policy/v1", kind: "PodDisruptionBudget", metadata: { name: shop } },
      spec: { minAvailable: 1, selector: { matchLabels: labels } },
    },
    {
      ...{ apiVersion: "v1", kind: "Service", metadata: { name: shop } },
      spec: { selector: labels, ports: [{ port: 80, targetPort: 8080 }] },
    },
    ...(storage
      ? [
          {
            ...{ apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: { name: "data" } },
            spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "10Gi" } } },
          },
          {
            ...{ apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "ledger" } },
            spec: {
              replicas: 1,
              strategy: { type: "Recreate" },
              selector: { matchLabels: { app: "ledger" } },
              template: {
                metadata: { labels: { app: "ledger" } },
                spec: {
                  containers: [{ ...container, volumeMounts: [{ name: "data", mountPath: "/data" }] }],
                  volumes: [data],
                  terminationGracePeriodSeconds: 1,
                },
              },
            },
          },
        ]
      : []),
  ];
}

export async function deployWorkload(chain: Chain, { storage = true } = {}): Promise<void> {
  const text = objects(storage)
    .map((one) => JSON.stringify(one))
    .join("\n---\n");
  await chain.kubectl("apply", "--namespace", "default", "--filename", await chain.lab.write("workload.yaml", text));
  const deployments = ["deployment/shop", ...(storage ? ["deployment/ledger"] : [])];
  await chain.kubectl("wait", "--namespace", "default", ...deployments, "--for=condition=Available", "--timeout=60s");
}

/** The nodes with the names of their cordons, and whether all pods of the application run. */
export async function workloadState(
  chain: Chain,
): Promise<{ readonly cordoned: readonly string[]; readonly ready: string }> {
  const nodes = JSON.parse(await chain.kubectl("get", "nodes", "--output", "json")).items as {
    readonly metadata: { readonly name: string };
    readonly spec: { readonly unschedulable?: boolean };
  }[];
  const cordoned = nodes.filter(({ spec }) => spec.unschedulable).map(({ metadata }) => metadata.name);
  await chain.kubectl(
    "wait",
    "--namespace",
    "default",
    "deployment",
    "--all",
    "--for=condition=Available",
    "--timeout=60s",
  );
  const format = "--output=jsonpath={range .items[*]}{.metadata.name} {.status.readyReplicas} {end}";
  return { cordoned, ready: (await chain.kubectl("get", "--namespace", "default", "deployments", format)).trim() };
}
