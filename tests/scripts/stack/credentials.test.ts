import { expect, test } from "@jest/globals";
import { credentialsIn } from "../../../scripts/stack/credentials.ts";

const secret = (value: string) => ({ "4dabf18193072939515e22adb298388d": "a", plaintext: JSON.stringify(value) });
const state = (...resources: readonly object[]) => ({ version: 3, deployment: { resources } });
const stack = { type: "pulumi:pulumi:Stack" };
const talosconfig = { type: "sluice:talos:Talosconfig", outputs: { talosconfig: secret("the talosconfig") } };
const raw = "clusters:\n  - name: test\n    cluster:\n      server: https://10.0.0.20:6443\n";
const kubeconfig = {
  type: "talos:cluster/kubeconfig:Kubeconfig",
  outputs: { kubeconfigRaw: secret(raw), node: "10.0.0.11" },
};

test("U1 the credentials of a cluster are available as soon as they are created, even if the run failed later", () => {
  expect(credentialsIn(state(stack, talosconfig))).toEqual({ talosconfig: "the talosconfig" });
  expect(credentialsIn(state(stack, talosconfig, kubeconfig))).toEqual({
    talosconfig: "the talosconfig",
    kubeconfig: raw.replace("10.0.0.20", "10.0.0.11"),
  });
});

test("S4.4 the kubeconfig leads to the final address, once that is known", () => {
  const outputs = { kubeconfig: secret("the kubeconfig") };
  expect(credentialsIn(state({ ...stack, outputs }, talosconfig, kubeconfig))).toMatchObject({
    kubeconfig: "the kubeconfig",
  });
});

test.each([
  ["an empty state", {}],
  ["a state without resources", state()],
])("no credentials are found in %s", (_, exported) => {
  expect(credentialsIn(exported)).toEqual({});
});
