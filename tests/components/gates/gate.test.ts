import { createHash } from "node:crypto";
import { describe, expect, test } from "@jest/globals";
import * as pulumi from "@pulumi/pulumi";
import { ciliumReady } from "../../../components/gates/ciliumReady.ts";
import { Gate } from "../../../components/gates/gate.ts";
import { nodesReady } from "../../../components/gates/nodesReady.ts";
import { findGate, gates } from "../../../components/gates/registry.ts";
import { record, unwrap } from "../../support/mocks.ts";

class Stage extends pulumi.ComponentResource {
  constructor() {
    super("sluice:test:Stage", "stage", {});
  }
}

function gate(parent: pulumi.Resource) {
  return new Gate(
    nodesReady,
    "home-nodes-ready",
    {
      inputs: { nodes: ["w-1"], controller: "cloud", labels: [] },
      credentials: { kubeconfig: "geheim" },
      settings: { deadlineSeconds: 600, stableSeconds: 5 },
      triggers: ["a"],
    },
    { parent },
  );
}

describe("S3.2 a gate in the graph", () => {
  test("has its own type, its row and its inputs, with the credentials as a secret", async () => {
    const { resources } = await record(() => gate(new Stage()));
    const [made] = resources.filter(({ name }) => name === "home-nodes-ready");
    expect(made).toMatchObject({
      type: "pulumi-nodejs:dynamic/gates:NodesReady",
      parent: "sluice:test:Stage stage",
      additionalSecretOutputs: ["credentials", "secretTriggers"],
      inputs: {
        gate: "NodesReady",
        inputs: { nodes: ["w-1"], controller: "cloud", labels: [] },
        credentials: { secret: { kubeconfig: "geheim" } },
        settings: { deadlineSeconds: 600, stableSeconds: 5 },
        triggers: ["a"],
        row: "urn:pulumi:test::sluice::sluice:test:Stage$pulumi-nodejs:dynamic/gates:NodesReady::home-nodes-ready",
      },
    });
  });

  test("has secret triggers as hashes, which are secrets too", async () => {
    const program = () =>
      new Gate(
        ciliumReady,
        "it",
        {
          inputs: { nodes: [] },
          credentials: { kubeconfig: "" },
          settings: { deadlineSeconds: 1, stableSeconds: 0 },
          triggers: [],
          secretTriggers: ["geheim", undefined],
        },
        {},
      );
    const { resources } = await record(program);
    const hash = (text: string) => createHash("sha256").update(text).digest("hex");
    expect(resources[0]).toMatchObject({
      additionalSecretOutputs: ["credentials", "secretTriggers"],
      inputs: { secretTriggers: { secret: [hash('"geheim"'), hash("")] } },
    });
  });

  test("U2 shows no evidence in a preview before it has run", async () => {
    const { result } = await record(() => gate(new Stage()), { preview: true });
    expect(await unwrap(result.evidence)).toMatchObject({ known: false });
  });
});

test.each(gates)("S3.2 the gate $name is found by its name", (gate) => {
  expect(findGate(gate.name)).toBe(gate);
});
