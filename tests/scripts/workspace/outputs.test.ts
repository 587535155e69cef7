import { expect, test } from "@jest/globals";
import { accessIn } from "../../../scripts/workspace/outputs.ts";

const secret = (value: string) => ({ "4dabf18193072939515e22adb298388d": "a", plaintext: JSON.stringify(value) });
const state = (...resources: readonly object[]) => ({ version: 3, deployment: { resources } });
const stack = { type: "pulumi:pulumi:Stack" };
const secrets = { type: "sluice:talos:MachineSecrets", outputs: { talosconfig: secret("the talosconfig") } };
const kubeconfig = { type: "sluice:talos:Kubeconfig", outputs: { kubeconfig: secret("the kubeconfig") } };

test("U1 what opens a cluster is there as soon as it is made, also where the run failed later", () => {
  expect(accessIn(state(stack, secrets, kubeconfig))).toEqual({
    talosconfig: "the talosconfig",
    kubeconfig: "the kubeconfig",
  });
  expect(accessIn(state(stack, secrets, { type: "sluice:talos:Kubeconfig" }))).toEqual({
    talosconfig: "the talosconfig",
  });
});

test.each([
  ["an empty state", {}],
  ["a state without resources", state()],
])("there is nothing in %s", (_, exported) => {
  expect(accessIn(exported)).toEqual({});
});
