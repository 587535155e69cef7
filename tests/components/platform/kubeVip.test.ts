import { describe, expect, test } from "@jest/globals";
import { KubeVip, type KubeVipArgs } from "../../../components/platform/kubeVip.ts";
import { recordPlatform } from "./platformResources.ts";

const args: KubeVipArgs = { version: "1.0.3", address: "10.0.0.20" };
const make = (changes: Partial<KubeVipArgs> = {}) =>
  recordPlatform((provider) => new KubeVip("home-kube-vip", { ...args, ...changes }, { provider }));

async function pods(changes?: Partial<KubeVipArgs>) {
  const { resources } = await make(changes);
  const { inputs } = resources.find(({ type }) => type === "kubernetes:apps/v1:DaemonSet") ?? {};
  return (inputs as { spec: { template: { spec: Record<string, unknown> } } }).spec.template.spec;
}
async function environment(changes?: Partial<KubeVipArgs>) {
  const { containers } = await pods(changes);
  const [{ env }] = containers as [{ env: { name: string; value?: string }[] }];
  return Object.fromEntries(env.map(({ name, value }) => [name, value]));
}

describe("kube-vip", () => {
  test("S3.1 is a DaemonSet that may hold its lease, and has no other permission in the cluster", async () => {
    const { resources } = await make();
    const made = resources.filter(({ type }) => type.startsWith("kubernetes:"));
    expect(made.map(({ type, dependencies }) => [type, dependencies])).toEqual([
      ["kubernetes:apps/v1:DaemonSet", [expect.stringMatching("RoleBinding")]],
      ["kubernetes:core/v1:ServiceAccount", []],
      ["kubernetes:rbac.authorization.k8s.io/v1:Role", []],
      ["kubernetes:rbac.authorization.k8s.io/v1:RoleBinding", [expect.anything(), expect.anything()]],
    ]);
    expect(made[2]?.inputs).toMatchObject({
      metadata: { namespace: "kube-system" },
      rules: [
        {
          apiGroups: ["coordination.k8s.io"],
          resources: ["leases"],
          verbs: ["get", "list", "watch", "create", "update"],
        },
      ],
    });
  });

  test("S4.4 answers for addresses of Services if configured, which Cilium assigns", async () => {
    const services = { interface: "enp6s18" };
    expect(await environment({ services, interface: "tailscale0" })).toMatchObject({
      svc_enable: "true",
      svc_leasename: "plndr-svcs-lock",
      vip_interface: "tailscale0",
      vip_servicesinterface: "enp6s18",
      disable_service_updates: "true",
    });
    expect(await environment({ services: {} })).not.toHaveProperty("vip_servicesinterface");
    expect(await environment()).toMatchObject({ svc_enable: "false" });
    const { resources } = await make({ services });
    const rights = resources.find(({ type }) => type.endsWith(":ClusterRole"))?.inputs;
    expect(rights).toMatchObject({
      metadata: { name: "kube-vip-services" },
      rules: expect.arrayContaining([
        { apiGroups: [""], resources: ["services", "endpoints"], verbs: ["get", "list", "watch", "update"] },
      ]),
    });
    const pods = resources.find(({ type }) => type === "kubernetes:apps/v1:DaemonSet");
    expect(pods?.dependencies).toContainEqual(expect.stringContaining("ClusterRoleBinding"));
  });

  test("S4.4 runs on control planes before the pod network: in the host's network, on nodes that are not Ready", async () => {
    expect(await pods()).toMatchObject({
      hostNetwork: true,
      nodeSelector: { "node-role.kubernetes.io/control-plane": "" },
      tolerations: [
        { effect: "NoSchedule", operator: "Exists" },
        { effect: "NoExecute", operator: "Exists" },
      ],
      containers: [{ image: "ghcr.io/kube-vip/kube-vip:v1.0.3", args: ["manager"] }],
    });
  });

  test("S4.4 reaches the API by KubePrism, because no Service works yet", async () => {
    expect(await environment()).toMatchObject({
      KUBERNETES_SERVICE_HOST: "localhost",
      KUBERNETES_SERVICE_PORT: "7445",
    });
  });

  test("S4.4 brings the address up by ARP on the leader, on the configured interface", async () => {
    const wanted = { address: "10.0.0.20", vip_arp: "true", cp_enable: "true", vip_leaderelection: "true" };
    expect(await environment()).toMatchObject(wanted);
    expect(await environment()).not.toHaveProperty("vip_interface");
    expect(await environment({ interface: "tailscale0" })).toMatchObject({ ...wanted, vip_interface: "tailscale0" });
  });
});
