import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import * as pulumi from "@pulumi/pulumi";
import { toPlugin } from "../../../components/talos/secrets/secretsBundle.ts";
import { parseClusterConfig } from "../../../stacks/config/config.ts";
import { clientEndpoint } from "../../../stacks/endpoint.ts";
import { deployMachines } from "../../../stacks/machines.ts";
import { type MockOptions, record, title, unwrap } from "../../support/mocks.ts";
import { changed, rawConfig } from "../../support/rawConfig.ts";
import { secretsBundle } from "../../support/secretsFixture.ts";

const state: MockOptions["state"] = ({ type, name, inputs }) => {
  if (type === "hcloud:index/loadBalancer:LoadBalancer") return { ...inputs, ipv4: "203.0.113.9" };
  if (type === "hcloud:index/server:Server") return { ...inputs, ipv4Address: `address of ${name}` };
  return type.endsWith(":HetznerSnapshot") ? { ...inputs, snapshotId: "42" } : inputs;
};
const config = (changes: Record<string, unknown> = {}) =>
  parseClusterConfig(
    Object.entries(changes).reduce((raw, [path, value]) => changed(raw, path, value), rawConfig("cloud")),
  );
/** The machines of the environment with these changes. */
const machines = async (changes?: Record<string, unknown>) => {
  const given = config(changes);
  return deployMachines(given, await given.platform.resources(given), secrets());
};
const deploy = (changes?: Record<string, unknown>, options: MockOptions = {}) =>
  record(() => machines(changes), { state, ...options });
const credentials = () => pulumi.secret({ ca: "the-ca", crt: "the-crt", key: "the-key" });
const secrets = () => ({ credentials: credentials(), machineSecrets: pulumi.secret(toPlugin(secretsBundle)) });
const provider = "pulumi:providers:hcloud cloud-hetzner";

const before = process.env.HCLOUD_TOKEN;
beforeEach(() => {
  process.env.HCLOUD_TOKEN = "the-token";
});
afterEach(() => {
  pulumi.runtime.setAllConfig({});
  if (before === undefined) delete process.env.HCLOUD_TOKEN;
  else process.env.HCLOUD_TOKEN = before;
});

async function tokens(options?: MockOptions): Promise<unknown[]> {
  const { resources } = await deploy({}, options);
  const holders = resources.filter((resource) => title(resource) === provider || resource.type.endsWith("Snapshot"));
  return holders.map(({ inputs, ignoreChanges }) => [(inputs as { token: unknown }).token, ignoreChanges]);
}

describe("the platform Hetzner", () => {
  test("S0.1 servers start from the snapshot that was found", async () => {
    const { resources } = await deploy();
    const servers = resources.filter(({ type }) => type === "hcloud:index/server:Server");
    expect(servers.map(({ name }) => name)).toEqual(config().nodes.map(({ name }) => `cloud-${name}`));
    for (const { inputs } of servers) expect(inputs).toMatchObject({ image: "42" });
  });

  test("S3.1 each server is a machine of the chain", async () => {
    const { result } = await deploy();
    expect(result.machines.map(({ name }) => name)).toEqual(config().nodes.map(({ name }) => name));
  });

  test("S3.1 Hetzner's controllers get the token, as a secret, and the network", async () => {
    const { result } = await deploy();
    const { resources } = await record(() => {
      result.cloudAccount?.install("cloud-hcloud", {});
    });
    const [secret] = resources.filter(({ type }) => type === "kubernetes:core/v1:Secret");
    expect(secret?.inputs).toMatchObject({ stringData: { secret: { token: "the-token", network: "cloud" } } });
  });

  test("U1 a snapshot is created only if the environment allows it", async () => {
    const commands = async (build: boolean) =>
      (await deploy({ "hetzner.snapshot": { build } })).resources.filter(
        ({ type }) => type === "command:local:Command",
      );
    expect(await commands(true)).toHaveLength(1);
    expect(await commands(false)).toEqual([]);
  });

  test.each([
    ["the environment's own endpoint", { endpoint: "k8s.example.org" }, "k8s.example.org"],
    ["the first control plane by name, whatever the order", {}, "address of cloud-cp-1"],
    ["the load balancer where it serves the world", { "hetzner.loadBalancer.public": true }, "203.0.113.9"],
  ])("S3.2 the published address of the Kubernetes API is reached from here: %s", async (_, changes, expected) => {
    const { nodes } = rawConfig("cloud") as { nodes: unknown[] };
    const all = { nodes: nodes.toReversed(), ...changes };
    const { result } = await deploy(all);
    expect(await unwrap(clientEndpoint(config(all), result))).toMatchObject({ value: expected });
  });

  test("S2.1 the kubelet has the server's id, and the API server's certificate the published address", async () => {
    const { result } = await deploy({ "hetzner.loadBalancer.public": true });
    const patches = async (name: string) => {
      const output = result.patches[name];
      return output && (await unwrap(output)).value;
    };
    const kubelet = (id: string) => ({ machine: { kubelet: { extraArgs: { "provider-id": `hcloud://${id}` } } } });
    const certificate = { cluster: { apiServer: { certSANs: ["203.0.113.9"] } } };
    expect(await patches("cp-1")).toEqual([kubelet("cloud-cp-1-id"), certificate]);
    expect(await patches("w-1")).toEqual([kubelet("cloud-w-1-id")]);
  });

  test("S2.1 the API server's certificate is unchanged if nodes answer themselves", async () => {
    const { result } = await deploy();
    const patches = await Promise.all(Object.values(result.patches).map(unwrap));
    expect(patches.map(({ value }) => value?.length)).toEqual(config().nodes.map(() => 1));
  });
});

describe("the token", () => {
  test("U1 the token for Hetzner is the environment variable, as a secret", async () => {
    expect(await tokens()).toEqual([
      [{ secret: "the-token" }, []],
      [{ secret: "the-token" }, []],
    ]);
  });

  test("U1 the provider's own key takes precedence over the environment variable", async () => {
    pulumi.runtime.setAllConfig({ "hcloud:token": "from-the-file" }, ["hcloud:token"]);
    expect(await tokens()).toEqual([
      [{ secret: "from-the-file" }, []],
      [{ secret: "from-the-file" }, []],
    ]);
  });

  test("U2 a preview needs no token and keeps that of the state", async () => {
    delete process.env.HCLOUD_TOKEN;
    const placeholder = { secret: expect.stringMatching(/^preview-without-a-token-0+$/) };
    expect(await tokens({ preview: true })).toEqual([
      [placeholder, ["token"]],
      [placeholder, ["token"]],
    ]);
  });

  test("U1 a missing token is reported in an update, with what to do", async () => {
    delete process.env.HCLOUD_TOKEN;
    await expect(deploy()).rejects.toThrow(/^no token for Hetzner: set HCLOUD_TOKEN /);
  });
});
