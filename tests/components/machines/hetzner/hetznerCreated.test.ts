import { describe, expect, test } from "@jest/globals";
import {
  type HetznerProject,
  hetznerCreated,
  hetznerProject,
} from "../../../../components/machines/hetzner/hetznerCreated.ts";

const item = (id: number, name: string, labels: Record<string, string> = {}) => ({
  id,
  name,
  created: "2026-11-19T10:00:00Z",
  labels: { cluster: "dev", ...labels },
});

const project: HetznerProject = {
  networks: [{ ...item(1, "dev"), subnets: [{ ip_range: "10.0.1.0/24" }], servers: [5, 9], load_balancers: [6] }],
  firewalls: [
    { ...item(2, "dev-apis"), applied_to: [] },
    { ...item(20, "dev-mine"), applied_to: [] },
  ],
  placement_groups: [{ ...item(3, "dev-spread-10-0-1-10"), servers: [5] }],
  servers: [
    { ...item(5, "dev-cp-1", { node: "cp-1" }), private_net: [{ network: 1 }] },
    { ...item(50, "dev-bastion"), private_net: [] },
    { ...item(51, "other-cp-1", { node: "cp-1" }), private_net: [] },
  ],
  load_balancers: [
    {
      ...item(6, "dev-api"),
      private_net: [{ network: 1 }],
      services: [{ listen_port: 6443 }, { listen_port: 443 }],
      targets: [{}],
    },
  ],
  attached: { servers: [item(9, "mine")], load_balancers: [] },
};

const { resources, blockers, component } = hetznerCreated("dev", project);
const types = (names: Record<string, string>) =>
  resources.map(({ type, part, id }) => [names[type.split(":")[2] ?? ""] ?? type.split(":")[2], part, id]);

describe("what a Hetzner project has of a cluster (S5.3)", () => {
  test("is what the program creates, by its names there; others with the label are not", () => {
    expect(component).toBe("sluice:machines:HetznerMachines");
    expect(types({})).toEqual([
      ["Network", "network", "1"],
      ["NetworkSubnet", "subnet", "1-10.0.1.0/24"],
      ["Firewall", "apis", "2"],
      ["PlacementGroup", "spread-10-0-1-10", "3"],
      ["Server", "cp-1", "5"],
      ["LoadBalancer", "api", "6"],
      ["LoadBalancerNetwork", "api", "6-1"],
      ["LoadBalancerService", "api", "6__6443"],
    ]);
  });

  test("is used if something else depends on it", () => {
    const used = resources.filter(({ isUsed }) => isUsed).map(({ part }) => part);
    expect(used).toEqual(["network", "subnet", "spread-10-0-1-10", "cp-1", "api", "api", "api"]);
  });

  test("has a server within its network, and uses its subnet, group and firewall", () => {
    expect(resources.find(({ part }) => part === "cp-1")).toMatchObject({
      title: "server dev-cp-1 (id 5)",
      within: ["hcloud:index/network:Network 1"],
      uses: [
        "hcloud:index/networkSubnet:NetworkSubnet 1-10.0.1.0/24",
        "hcloud:index/placementGroup:PlacementGroup 3",
        "hcloud:index/firewall:Firewall 2",
        "hcloud:index/firewall:Firewall 20",
      ],
      removal: 'curl -X DELETE -H "Authorization: Bearer $HCLOUD_TOKEN" https://api.hetzner.cloud/v1/servers/5',
    });
  });

  test("cannot be deleted while someone else's server is in its network, which is named with how to delete it", () => {
    expect(blockers).toEqual([
      {
        title: "server mine (id 9)",
        removal: 'curl -X DELETE -H "Authorization: Bearer $HCLOUD_TOKEN" https://api.hetzner.cloud/v1/servers/9',
      },
    ]);
  });

  test("is listed by the label, page by page, with the names of what else is in the network", async () => {
    const asked: string[] = [];
    const answers: Record<string, unknown> = {
      networks: { networks: project.networks },
      firewalls: { firewalls: [] },
      placement_groups: { placement_groups: [] },
      load_balancers: { load_balancers: [] },
    };
    const send = async (url: string) => {
      const path = url.replace("http://cloud/", "");
      asked.push(path);
      const [, kind = "", id, page] = /^([a-z_]+)(?:\/(\d+))?(?:.*&page=(\d))?/.exec(path) ?? [];
      const body =
        id !== undefined
          ? { [kind.replace(/s$/, "")]: item(Number(id), `other-${id}`) }
          : kind === "servers"
            ? {
                servers: page === "1" ? [project.servers[0]] : [],
                meta: { pagination: { next_page: page === "1" ? 2 : null } },
              }
            : answers[kind];
      return { status: 200, reason: "OK", body: JSON.stringify(body) };
    };
    const api = { url: "http://cloud", token: "t", deadlineSeconds: 1, send };
    const found = await hetznerProject(api, "dev");
    expect(asked.filter((path) => path.startsWith("servers"))).toEqual([
      "servers?label_selector=cluster%3Ddev&per_page=50&page=1",
      "servers?label_selector=cluster%3Ddev&per_page=50&page=2",
      "servers/9",
    ]);
    expect(found.attached).toMatchObject({ servers: [{ name: "other-9" }], load_balancers: [{ name: "other-6" }] });
  });
});
