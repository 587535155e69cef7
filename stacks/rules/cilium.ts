import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { cilium as ciliumSettings } from "../../components/model/settings/platform.ts";
import { didYouMean, suggest } from "../../components/model/suggest.ts";
import { isMapping } from "../../components/model/untyped.ts";
import { contains } from "../../components/network/cidr.ts";
import { parseValueTypes, type ValueFinding, valueFindings } from "../../components/platform/chartValues.ts";
import { isScheduledOnControlPlanes } from "../../components/talos/config/patches/scheduling.ts";
import type { ClusterConfig } from "../schema/clusterConfig.ts";
import { yamlPath } from "../schema/yamlPath.ts";
import { rule } from "./rule.ts";

type Values = ClusterConfig["cilium"]["values"];

const nothingElse = "nodes of Talos have nothing else by which";

/** Values that Sluice, its gates or Talos depend on. A test gets the user's value, if there is one. */
const needed: Readonly<Record<string, { readonly fits: (value: unknown) => boolean; readonly reason: string }>> = {
  kubeProxyReplacement: {
    fits: (value) => String(value) === "true",
    reason: `must be true: Talos runs no kube-proxy, and ${nothingElse} Services are reached`,
  },
  "ipam.mode": {
    fits: (value) => value === "kubernetes",
    reason:
      "must be 'kubernetes': Talos assigns the ranges of network.podCidr to the nodes, and other stages read them there",
  },
  k8sServiceHost: {
    fits: (value) => value === "localhost" || value === "127.0.0.1",
    reason: `must be 'localhost': KubePrism is there, and ${nothingElse} Cilium reaches the API before it runs`,
  },
  k8sServicePort: {
    fits: (value) => String(value) === "7445",
    reason: "must be 7445, the port of KubePrism",
  },
  "cgroup.autoMount.enabled": {
    fits: (value) => value === false,
    reason: "must be false: Talos has mounted it, and forbids pods to do so",
  },
  "cgroup.hostRoot": {
    fits: (value) => value === "/sys/fs/cgroup",
    reason: "must be /sys/fs/cgroup, where Talos has mounted it",
  },
  agent: { fits: (value) => value === true, reason: "must be true: without the agent no node becomes Ready" },
  "operator.enabled": {
    fits: (value) => value === true,
    reason: "must be true: without the operator no node becomes Ready",
  },
  "cni.install": { fits: (value) => value === true, reason: "must be true: Talos installs no other CNI" },
  "cni.chainingMode": {
    fits: (value) => value === "none" || value === "portmap",
    reason: "must be 'none' or 'portmap': there is no other CNI to chain with",
  },
  "cni.confPath": {
    fits: (value) => value === "/etc/cni/net.d",
    reason: "must be /etc/cni/net.d, where Talos' container runtime looks for it",
  },
  "cni.binPath": {
    fits: (value) => value === "/opt/cni/bin",
    reason: "must be /opt/cni/bin, where Talos' container runtime looks for it",
  },
  "ipv6.enabled": {
    fits: (value) => value === false,
    reason: "must be false: the ranges of network are IPv4, and the agents would wait for one of IPv6",
  },
  "cluster.name": {
    fits: (value) => typeof value === "string" && /^[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?$/.test(value),
    reason: "must be of lower-case letters, digits and '-', 32 at most: the agents would not start",
  },
  "cluster.id": {
    fits: (value) => Number(value) >= 0 && Number(value) <= 511,
    reason: "must be 0 to 511: the agents would not start",
  },
  "ipv4.enabled": { fits: (value) => value === true, reason: "must be true: the ranges of network are IPv4" },
  namespaceOverride: {
    fits: (value) => value === "",
    reason: "cannot be set: the gate CiliumReady waits for pods in kube-system",
  },
};

/** Values with which the agents do not start, where they are none of these. The chart's schema accepts any text. */
const choices: Readonly<Record<string, readonly string[]>> = {
  routingMode: ["native", "tunnel"],
  tunnelProtocol: ["vxlan", "geneve"],
  policyEnforcementMode: ["default", "always", "never"],
  "encryption.type": ["ipsec", "wireguard", "ztunnel"],
  "loadBalancer.mode": ["snat", "dsr", "hybrid", "annotation"],
  "loadBalancer.algorithm": ["random", "maglev"],
  "loadBalancer.acceleration": ["disabled", "native", "best-effort", "testing-only"],
  "bpf.datapathMode": ["veth", "netkit", "netkit-l2"],
};

/** S4.6: with other values Cilium, or what waits for it, would never be ready. */
export const ciliumNeeds = rule(["cilium", "nodes", "network"], function* ({ cilium, nodes, network }) {
  const { values, version } = cilium;
  for (const [name, { fits, reason }] of Object.entries(needed)) {
    const value = valueAt(values, name);
    if (value !== undefined && !fits(value)) yield { path: pathOf(name), message: reason };
  }
  for (const [name, known] of Object.entries(version === defaultVersion ? choices : {})) {
    const value = valueAt(values, name);
    if (typeof value !== "string" || value === "" || known.includes(value)) continue;
    yield {
      path: pathOf(name),
      message: `must be ${either.format(known)}, got '${value}'${didYouMean(value, known)}`,
    };
  }
  const native = valueAt(values, "ipv4NativeRoutingCIDR");
  if (typeof native === "string" && z.cidrv4().safeParse(native).success && !contains(native, network.podCidr)) {
    yield {
      path: pathOf("ipv4NativeRoutingCIDR"),
      message: `${native} does not contain network.podCidr ${network.podCidr}: pods would reach each other under their nodes' addresses`,
    };
  }
  if (valueAt(values, "routingMode") === "native" && !native) {
    yield {
      path: pathOf("routingMode"),
      message: "is 'native', which needs ipv4NativeRoutingCIDR: the range in which pods are reached without a tunnel",
    };
  }
  const replicas = valueAt(values, "operator.replicas");
  if (typeof replicas === "number" && (replicas < 1 || replicas > nodes.length)) {
    yield {
      path: pathOf("operator.replicas"),
      message: `is ${replicas}, but it must be 1 to ${nodes.length}, the number of nodes: each replica needs its own`,
    };
  }
  const capabilities = valueAt(values, "securityContext.capabilities");
  if (capabilities === null) {
    yield {
      path: pathOf("securityContext.capabilities"),
      message: "must not be null: the chart's own list has SYS_MODULE, which Talos forbids",
    };
  }
  for (const [list, names] of isMapping(capabilities) ? Object.entries(capabilities) : []) {
    if (Array.isArray(names) && names.some((name) => ["SYS_MODULE", "CAP_SYS_MODULE", "ALL"].includes(String(name)))) {
      yield {
        path: pathOf(`securityContext.capabilities.${list}`),
        message: "has SYS_MODULE, or ALL: Talos forbids pods to load kernel modules, and the pods would not start",
      };
    }
  }
});

/** S4.6: a node has taints until Cilium runs on it. */
export const ciliumTolerations = rule(["cilium", "machine", "platform", "settings", "nodes"], function* (config) {
  const { cilium, platform, settings, nodes } = config;
  const tolerations = valueAt(cilium.values, "tolerations");
  if (tolerations === undefined) return;
  const taints = [
    "node.kubernetes.io/not-ready=:NoSchedule",
    ...(platform.hasCloudController(settings)
      ? ["node.cloudprovider.kubernetes.io/uninitialized=true:NoSchedule"]
      : []),
    ...(isScheduledOnControlPlanes(config) ? [] : ["node-role.kubernetes.io/control-plane=:NoSchedule"]),
    ...nodes.flatMap((node) => Object.entries(node.taints).map(([key, rest]) => `${key}=${rest}`)),
  ].filter((taint) => !taint.endsWith(":PreferNoSchedule"));
  const list = Array.isArray(tolerations) ? tolerations.filter(isMapping) : [];
  const unmet = taints.find((taint) => !list.some((one) => tolerates(one, taint)));
  if (unmet !== undefined) {
    yield {
      path: pathOf("tolerations"),
      message: `does not tolerate ${unmet.replace(/=(?=:)/, "")}, which nodes have before Cilium runs: add '{ operator: Exists }'`,
    };
  }
});

/** As the scheduler decides. */
function tolerates(toleration: Values, taint: string): boolean {
  const [, key, value, effect] = /^(.*?)=(.*):(.*)$/.exec(taint) ?? [];
  if (toleration.effect && toleration.effect !== effect) return false;
  if (toleration.operator === "Exists") return !toleration.key || toleration.key === key;
  return toleration.key === key && (toleration.value ?? "") === value;
}

/** S4.6: the chart ignores unknown values, and Helm refuses other types after everything else has been installed. */
export const ciliumValues = rule(["cilium"], ({ cilium }) =>
  findings(cilium).flatMap((finding) => {
    const message = faultOf(finding);
    return message === undefined ? [] : [{ path: yamlPath(["cilium", "values", ...finding.path]), message }];
  }),
);

/** A value that resembles no listed one may be read by the chart without being listed. */
export const unknownCiliumValues = rule(["cilium"], ({ cilium }) =>
  findings(cilium).flatMap((finding) =>
    finding.kind === "unknown" && faultOf(finding) === undefined
      ? [
          {
            path: yamlPath(["cilium", "values", ...finding.path]),
            message: `is not a value that Cilium's chart ${defaultVersion} lists: it may have no effect`,
          },
        ]
      : [],
  ),
);

const defaultVersion = ciliumSettings.parse({}).version;

/** The list is for one version; another version is only checked by Helm. */
function findings({ version, values }: ClusterConfig["cilium"]): readonly ValueFinding[] {
  if (version !== defaultVersion || Object.keys(values).length === 0) return [];
  const file = join(import.meta.dirname, "../../components/platform/ciliumValues.txt");
  return valueFindings(values, parseValueTypes(readFileSync(file, "utf8")));
}

function faultOf(finding: ValueFinding): string | undefined {
  const { path } = finding;
  if (finding.kind === "type") {
    const given = Array.isArray(finding.value) ? "list" : isMapping(finding.value) ? "map" : typeof finding.value;
    return `must be ${either.format(finding.types)}, not ${given}: Cilium's chart refuses it`;
  }
  const key = path.at(-1) ?? "";
  if (key.includes(".")) {
    const nested = key
      .split(".")
      .map((part) => `${part}: `)
      .join("{ ");
    return `has dots in its name, which the chart does not read as a path: write ${nested}...${" }".repeat(key.split(".").length - 1)}`;
  }
  return suggest(key, finding.siblings) === undefined
    ? undefined
    : `is not a value of Cilium's chart${didYouMean(key, finding.siblings)}`;
}

const either = new Intl.ListFormat("en-GB", { type: "disjunction" });

/** Null where a map above it is null, with which Helm removes the chart's own values. */
function valueAt(values: Values, name: string): unknown {
  return name
    .split(".")
    .reduce<unknown>((at, key) => (isMapping(at) ? at[key] : at === null ? null : undefined), values);
}

function pathOf(name: string): string {
  return `cilium.values.${name}`;
}
