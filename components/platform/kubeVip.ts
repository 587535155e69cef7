import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import type { KubeVipSettings } from "../model/settings/platform.ts";

export interface KubeVipArgs extends KubeVipSettings {
  /** The VIP. */
  readonly address: string;
  /** Whether it answers for addresses of Services too, and on which interface. Default: no; the interface of the VIP. */
  readonly services?: { readonly interface?: string | undefined } | undefined;
}

const name = "kube-vip";
const namespace = "kube-system";
const labels = { "app.kubernetes.io/name": name };
/** kube-vip's default name. */
const lease = "plndr-cp-lock";
const servicesLease = "plndr-svcs-lock";

/**
 * The VIP, on the control plane that leads. It is installed before the cluster's network, so it runs in the host's network and
 * needs nothing of the cluster but its API. https://kube-vip.io/docs/installation/daemonset/
 */
export class KubeVip extends pulumi.ComponentResource {
  constructor(title: string, args: KubeVipArgs, opts: pulumi.ComponentResourceOptions) {
    super("sluice:platform:KubeVip", title, {}, opts);
    const metadata = { name, namespace, labels };

    const account = new kubernetes.core.v1.ServiceAccount(`${title}-account`, { metadata }, { parent: this });
    // It uses the API only for its election, unless it watches Services.
    const role = new kubernetes.rbac.v1.Role(
      `${title}-role`,
      {
        metadata,
        rules: [
          {
            apiGroups: ["coordination.k8s.io"],
            resources: ["leases"],
            verbs: ["get", "list", "watch", "create", "update"],
          },
        ],
      },
      { parent: this },
    );
    const binding = new kubernetes.rbac.v1.RoleBinding(
      `${title}-binding`,
      {
        metadata,
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name },
        subjects: [{ kind: "ServiceAccount", name, namespace }],
      },
      { parent: this, dependsOn: [account, role] },
    );
    const watching =
      args.services === undefined ? [] : [watchServices(title, metadata, { parent: this, dependsOn: [account] })];
    new kubernetes.apps.v1.DaemonSet(
      `${title}-pods`,
      {
        // The next gate proves that it works.
        metadata: { ...metadata, annotations: { "pulumi.com/skipAwait": "true" } },
        spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: podSpec(args) } },
      },
      { parent: this, dependsOn: [binding, ...watching] },
    );
    this.registerOutputs();
  }
}

/** The permissions for Services in kube-vip's own manifests. https://kube-vip.io/manifests/rbac.yaml */
function watchServices(
  title: string,
  metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> },
  opts: pulumi.CustomResourceOptions,
): pulumi.Resource {
  const cluster = { name: `${metadata.name}-services`, labels: { ...metadata.labels } };
  const watches = ["get", "list", "watch", "update"];
  const role = new kubernetes.rbac.v1.ClusterRole(
    `${title}-services-role`,
    {
      metadata: cluster,
      rules: [
        { apiGroups: [""], resources: ["services", "endpoints"], verbs: watches },
        { apiGroups: [""], resources: ["nodes"], verbs: [...watches, "patch"] },
        { apiGroups: [""], resources: ["pods"], verbs: ["list"] },
        { apiGroups: ["discovery.k8s.io"], resources: ["endpointslices"], verbs: watches },
        // It records there what it does with a Service.
        { apiGroups: [""], resources: ["events"], verbs: ["create", "patch"] },
      ],
    },
    opts,
  );
  return new kubernetes.rbac.v1.ClusterRoleBinding(
    `${title}-services-binding`,
    {
      metadata: cluster,
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: cluster.name },
      subjects: [{ kind: "ServiceAccount", name, namespace }],
    },
    { ...opts, dependsOn: [role] },
  );
}

function podSpec(args: KubeVipArgs): kubernetes.types.input.core.v1.PodSpec {
  return {
    serviceAccountName: name,
    hostNetwork: true,
    priorityClassName: "system-node-critical",
    nodeSelector: { "node-role.kubernetes.io/control-plane": "" },
    // No node is Ready before the cluster's network, and control planes accept no ordinary pods.
    tolerations: [
      { effect: "NoSchedule", operator: "Exists" },
      { effect: "NoExecute", operator: "Exists" },
    ],
    containers: [
      {
        name,
        image: `ghcr.io/kube-vip/kube-vip:v${args.version}`,
        args: ["manager"],
        env: [
          { name: "vip_nodename", valueFrom: { fieldRef: { fieldPath: "spec.nodeName" } } },
          ...Object.entries(settings(args)).map(([key, value]) => ({ name: key, value })),
        ],
        securityContext: { capabilities: { drop: ["ALL"], add: ["NET_ADMIN", "NET_RAW"] } },
      },
    ],
  };
}

function settings({ address, interface: link, services }: KubeVipArgs): Readonly<Record<string, string>> {
  return {
    address,
    port: "6443",
    ...(link !== undefined && { vip_interface: link }),
    vip_arp: "true",
    vip_subnet: "32",
    cp_enable: "true",
    cp_namespace: namespace,
    svc_enable: String(services !== undefined),
    // Cilium assigns the addresses of Services, and writes them into their status.
    ...(services !== undefined && { svc_leasename: servicesLease, disable_service_updates: "true" }),
    ...(services?.interface !== undefined && { vip_servicesinterface: services.interface }),
    vip_leaderelection: "true",
    vip_leasename: lease,
    vip_leaseduration: "5",
    vip_renewdeadline: "3",
    vip_retryperiod: "1",
    // The Service `kubernetes` does not work before Cilium runs; KubePrism is on every node.
    KUBERNETES_SERVICE_HOST: "localhost",
    KUBERNETES_SERVICE_PORT: "7445",
  };
}
