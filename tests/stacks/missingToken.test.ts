import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { deployCluster } from "../../stacks/cluster.ts";
import { parseClusterConfig } from "../../stacks/config/config.ts";
import { record } from "../support/mocks.ts";
import { platformMocks } from "../support/platformMocks.ts";
import { type Base, rawConfig } from "../support/rawConfig.ts";

const variables = ["HCLOUD_TOKEN", "PROXMOX_VE_API_TOKEN"] as const;
const before = Object.fromEntries(variables.map((name) => [name, process.env[name]]));
beforeEach(() => {
  for (const name of variables) delete process.env[name];
});
afterEach(() => {
  for (const [name, value] of Object.entries(before)) if (value !== undefined) process.env[name] = value;
});

test.each<[string, Base, string, Record<string, string>]>([
  ["Hetzner that is missing", "cloud", "no token for Hetzner: set HCLOUD_TOKEN", {}],
  ["Proxmox that is missing", "home", "no token for Proxmox: set PROXMOX_VE_API_TOKEN", {}],
  ["Proxmox of another form", "home", "is not of the form", { PROXMOX_VE_API_TOKEN: "talos@pve" }],
])("S5.3 an update with a token for %s ends before anything is created", async (_, base, words, env) => {
  Object.assign(process.env, env);
  const deploy = () => deployCluster(parseClusterConfig(rawConfig(base))).catch(({ message }: Error) => message);
  const { result, resources } = await record<unknown>(deploy, platformMocks);
  expect(result).toContain(words);
  expect(resources).toEqual([]);
});
