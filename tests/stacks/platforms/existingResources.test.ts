import { describe, expect, test } from "@jest/globals";
import * as pulumi from "@pulumi/pulumi";
import { toPlugin } from "../../../components/talos/secrets/secretsBundle.ts";
import { parseClusterConfig } from "../../../stacks/config/config.ts";
import { clientEndpoint } from "../../../stacks/endpoint.ts";
import { deployMachines } from "../../../stacks/machines.ts";
import { record, unwrap } from "../../support/mocks.ts";
import { changed, rawConfig } from "../../support/rawConfig.ts";
import { secretsBundle } from "../../support/secretsFixture.ts";

const config = (changes: Record<string, unknown> = {}) =>
  parseClusterConfig(
    Object.entries(changes).reduce((raw, [path, value]) => changed(raw, path, value), rawConfig("existing")),
  );
const credentials = () => pulumi.secret({ ca: "the-ca", crt: "the-crt", key: "the-key" });
const secrets = () => ({ credentials: credentials(), machineSecrets: pulumi.secret(toPlugin(secretsBundle)) });
/** The machines of the environment with these changes. */
const machines = async (changes?: Record<string, unknown>) => {
  const given = config(changes);
  return deployMachines(given, await given.platform.resources(given), secrets());
};
const deploy = async (changes?: Record<string, unknown>) =>
  (await record(() => machines(changes), { preview: true })).result;

describe("the platform of existing machines", () => {
  test("S3.1 each existing machine is a machine of the chain, in the order of the nodes", async () => {
    const { machines } = await deploy();
    expect(machines.map(({ name }) => name)).toEqual(["cp-1", "w-1"]);
  });

  test.each([
    ["its only control plane", {}, "10.0.0.11"],
    ["where that is reached from here", { "nodes[0].reach": "cp.example.org" }, "cp.example.org"],
    [
      "the environment's own endpoint",
      { "nodes[0].reach": "cp.example.org", endpoint: "k8s.example.org" },
      "k8s.example.org",
    ],
    ["the VIP", { "nodes[0].mac": "02:00:00:00:00:0b", "network.vip": "10.0.0.20" }, "10.0.0.20"],
  ])("S3.2 the published address of the Kubernetes API is reached from here: %s", async (_, changes, expected) => {
    const endpoint = clientEndpoint(config(changes), await deploy(changes));
    expect(await unwrap(endpoint)).toMatchObject({ known: true, value: expected });
  });

  test("S2.3 the Image Factory knows the schematic before the first gate opens, where it is not the empty one", async () => {
    const registrations = async (changes: Record<string, unknown>) => {
      const { resources, result } = await record(() => machines(changes), { preview: true });
      const found = resources.filter(({ type }) => type.endsWith("images:FactorySchematic"));
      return {
        extensions: found.map(({ inputs }) => (inputs as { readonly extensions: unknown }).extensions),
        ready: result.ready.length,
      };
    };
    const extensions = ["siderolabs/iscsi-tools"];
    expect(await registrations({})).toEqual({ extensions: [], ready: 2 });
    expect(await registrations({ image: { extensions } })).toEqual({ extensions: [extensions], ready: 3 });
  });

  test.each([false, true])("existing machines are reset at the end as the environment sets: %s", async (reset) => {
    const { resources } = await record(() => machines({ existing: { resetOnDestroy: reset } }));
    const [{ inputs, additionalSecretOutputs } = {}] = resources.filter(({ type }) =>
      type.endsWith("machines:Release"),
    );
    const { __provider, row, ...plain } = inputs as Record<string, unknown>;
    expect(plain).toEqual({
      nodes: [
        { name: "cp-1", talosAddress: "10.0.0.11", identity: {} },
        { name: "w-1", talosAddress: "10.0.0.21", identity: {} },
      ],
      credentials: { secret: { ca: "the-ca", crt: "the-crt", key: "the-key" } },
      ...{ reset, deadlineSeconds: 300 },
    });
    expect(additionalSecretOutputs).toEqual(["credentials"]);
  });

  test("S1.1 the certificates contain a `reach` that is not one of the machine's addresses", async () => {
    const { patches } = await deploy({ "nodes[0].reach": "cp.example.org", "nodes[1].reach": "10.0.0.21" });
    const patchesOf = async (name: string) => {
      const output = patches[name];
      return output && (await unwrap(output)).value;
    };
    expect(await patchesOf("cp-1")).toEqual([
      { machine: { certSANs: ["cp.example.org"] } },
      { cluster: { apiServer: { certSANs: ["cp.example.org"] } } },
    ]);
    expect(await patchesOf("w-1")).toEqual([]);
  });
});
