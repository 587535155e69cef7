import { describe, expect, test } from "@jest/globals";
import * as pulumi from "@pulumi/pulumi";
import { parseClusterConfig } from "../../stacks/config.ts";
import { deployExisting } from "../../stacks/existing.ts";
import { record, unwrap } from "../support/mocks.ts";
import { changed, rawConfig } from "../support/rawConfig.ts";

const config = (changes: Record<string, unknown> = {}) =>
  parseClusterConfig(
    Object.entries(changes).reduce((raw, [path, value]) => changed(raw, path, value), rawConfig("existing")),
  );
const credentials = () => pulumi.secret({ ca: "the-ca", crt: "the-crt", key: "the-key" });
const deploy = async (changes?: Record<string, unknown>) =>
  (await record(() => deployExisting(config(changes), credentials()), { preview: true })).result;

describe("the platform of machines that are already there", () => {
  test("S3.1 gives the chain a machine for each node, in their order", async () => {
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
  ])("S3.2 hands out an address that is reached from here: %s", async (_, changes, expected) => {
    const { endpoint } = await deploy(changes);
    expect(await unwrap(endpoint)).toMatchObject({ known: true, value: expected });
  });

  test.each([false, true])(
    "has what becomes of the machines in the end as the environment says: reset %s",
    async (reset) => {
      const { resources } = await record(() =>
        deployExisting(config({ existing: { resetOnDestroy: reset } }), credentials()),
      );
      const [{ inputs, additionalSecretOutputs } = {}] = resources.filter(({ type }) =>
        type.endsWith("machines:Release"),
      );
      const { __provider, row, ...plain } = inputs as Record<string, unknown>;
      expect(plain).toEqual({
        nodes: [
          { node: "cp-1", endpoint: "10.0.0.11", identity: {} },
          { node: "w-1", endpoint: "10.0.0.21", identity: {} },
        ],
        credentials: { secret: { ca: "the-ca", crt: "the-crt", key: "the-key" } },
        ...{ reset, deadline: 300 },
      });
      expect(additionalSecretOutputs).toEqual(["credentials"]);
    },
  );

  test("S1.1 has the certificates hold the place that a machine is reached at, where that is none of its addresses", async () => {
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
