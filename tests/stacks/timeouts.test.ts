import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { gates } from "../../components/gates/registry.ts";
import { deployCluster } from "../../stacks/cluster.ts";
import { parseClusterConfig } from "../../stacks/config/config.ts";
import { clusterConfigSchema } from "../../stacks/schema/clusterConfig.ts";
import { record } from "../support/mocks.ts";
import { platformMocks } from "../support/platformMocks.ts";
import { proxmoxApiToken } from "../support/proxmoxMocks.ts";
import { type Base, changed, rawConfig } from "../support/rawConfig.ts";

/** What each key bounds: the types of the resources that wait for that time. */
const bounded: Readonly<Record<string, string[]>> = {
  images: ["images:FactorySchematic", "images:HetznerSnapshot"],
  quorum: ["machines:QuorumGuard", "talos:TalosUpgrade"],
  pull: ["talos:KubernetesUpgrade", "talos:TalosUpgrade"],
  kubernetes: ["talos:KubernetesUpgrade"],
  upgrade: ["talos:TalosUpgrade"],
  storage: ["talos:TalosUpgrade"],
  lease: ["machines:ProxmoxAddress"],
  configure: ["talos:AppliedMachineConfig"],
  bootstrap: ["talos:Bootstrap"],
  drain: ["talos:Members"],
  leave: ["talos:Members"],
  kubeconfig: ["talos:cluster/kubeconfig:Kubeconfig"],
  reset: ["machines:Release"],
  ...Object.fromEntries(gates.map(({ name, timeout }) => [timeout.key, [`gates:${name}`]])),
};
const keys = Object.keys(clusterConfigSchema.shape.timeouts.unwrap().shape);
/** A different deadline for each key, by which it is found again. */
const timeouts = Object.fromEntries(keys.map((key, index) => [key, 7001 + index]));
const changes: Readonly<Record<Base, Record<string, unknown>>> = {
  home: { "network.addressing": "dhcp", flux: { url: "https://example.org/home.git" } },
  cloud: {
    ageRecipients: ["age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p"],
    backup: { folder: "/srv/backups" },
  },
  existing: {},
};

const variables = { PROXMOX_VE_API_TOKEN: proxmoxApiToken, HCLOUD_TOKEN: "0".repeat(64) };
const before = Object.keys(variables).map((name) => [name, process.env[name]] as const);
const found = new Map<string, Set<string>>();
beforeAll(async () => {
  Object.assign(process.env, variables);
  for (const base of ["home", "cloud", "existing"] as const) {
    const edits: Record<string, unknown> = { ...changes[base], timeouts };
    const raw = Object.entries(edits).reduce((config, [path, value]) => changed(config, path, value), rawConfig(base));
    const { resources } = await record(() => deployCluster(parseClusterConfig(raw)), platformMocks);
    for (const { type, inputs } of resources) {
      for (const key of keys.filter((one) => holds(inputs, timeouts[one] ?? 0))) {
        found.set(key, (found.get(key) ?? new Set()).add(type.replace("pulumi-nodejs:dynamic/", "")));
      }
    }
  }
});
afterAll(() => {
  for (const [name, value] of before) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
});

test.each(keys)("timeouts.%s bounds the one thing that it is described for", (key) => {
  expect([...(found.get(key) ?? [])].sort()).toEqual(bounded[key]);
});

/** Whether the inputs contain the number of seconds anywhere, as a number or as text such as `60s`. */
function holds(inputs: unknown, seconds: number): boolean {
  if (typeof inputs === "object" && inputs !== null) return Object.values(inputs).some((one) => holds(one, seconds));
  return inputs === seconds || inputs === `${seconds}s`;
}
