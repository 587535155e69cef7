import { createHash } from "node:crypto";
import { describe, expect, test } from "@jest/globals";
import * as pulumi from "@pulumi/pulumi";
import { Gate } from "../../../components/gates/gate.ts";
import { findGate, gateNames } from "../../../components/gates/registry.ts";
import { record, unwrap } from "../../support/mocks.ts";

class Stage extends pulumi.ComponentResource {
  constructor() {
    super("sluice:test:Stage", "stage", {});
  }
}

function gate(parent: pulumi.Resource) {
  return new Gate(
    "NodesReady",
    "home-nodes-ready",
    {
      inputs: { nodes: ["w-1"], controller: "cloud", labels: [] },
      credentials: { kubeconfig: "geheim" },
      settings: { deadline: 600, stable: 5 },
      triggers: ["a"],
    },
    { parent },
  );
}

describe("S3.2 a gate in the graph", () => {
  test("has a type of its own, its row, and what it was told; what opens the cluster is secret", async () => {
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
        settings: { deadline: 600, stable: 5 },
        triggers: ["a"],
        row: "urn:pulumi:test::sluice::sluice:test:Stage$pulumi-nodejs:dynamic/gates:NodesReady::home-nodes-ready",
      },
    });
  });

  test("has what it guards and must not be shown as hashes, and these as secrets", async () => {
    const program = () =>
      new Gate(
        "CiliumReady",
        "it",
        {
          inputs: { nodes: [] },
          credentials: { kubeconfig: "" },
          settings: { deadline: 1, stable: 0 },
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

  test("keeps in the state no more code than the way to it", async () => {
    const { resources } = await record(() => gate(new Stage()));
    const { inputs } = resources.find(({ name }) => name === "home-nodes-ready") ?? {};
    const { __provider: text } = inputs as { __provider: string };
    expect(text.match(/import\(.*?\)\)\.\w+/g)).toEqual(
      ["create", "read", "diff", "update"].map(
        (name) => `import(\`\${process.cwd()}/components/gates/run.ts\`)).${name}`,
      ),
    );
    expect(text.length).toBeLessThan(2_000);
  });

  test("U2 tells nothing in a preview that it has not seen", async () => {
    const { result } = await record(() => gate(new Stage()), { preview: true });
    expect(await unwrap(result.evidence)).toMatchObject({ known: false });
  });
});

test.each(gateNames)("S3.2 the gate %s is found under the name that it has", async (name) => {
  expect((await findGate(name)).name).toBe(name);
});
