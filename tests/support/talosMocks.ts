// The Talos plugin, as far as the program uses it, with secrets that are easy to distinguish.
import { toPlugin } from "../../components/talos/secrets/secretsBundle.ts";
import { certificates } from "../components/kubernetes/certificates.ts";
import type { MockOptions } from "./mocks.ts";
import { secretsBundle } from "./secretsFixture.ts";

export const machineSecrets = toPlugin({
  ...secretsBundle,
  ...{ cluster: { id: "the-id", secret: "the-secret" }, trustdinfo: { token: "the-token" } },
});
export const clientConfiguration = {
  caCertificate: "the-ca",
  clientCertificate: Buffer.from(certificates.server.cert).toString("base64"),
  clientKey: "the-key",
};

export const secretsType = "talos:machine/secrets:Secrets";
export const generator = "talos:machine/getConfiguration:getConfiguration";
export const clientConfig = "talos:client/getConfiguration:getConfiguration";

const kubeconfigRaw = "clusters: [{ name: cloud, cluster: { server: https://10.0.1.5:6443 } }]";

/** The state after an update. */
export const talosMocks: MockOptions = {
  state: ({ type, inputs }) => {
    if (type === secretsType) return { ...inputs, machineSecrets, clientConfiguration };
    return type === "talos:cluster/kubeconfig:Kubeconfig" ? { ...inputs, kubeconfigRaw } : inputs;
  },
  invoke: ({ token, inputs }) => {
    if (token === generator) return { ...inputs, machineConfiguration: `config of a ${inputs.machineType}` };
    if (token === clientConfig) return { ...inputs, talosConfig: `talosconfig of ${inputs.clusterName}` };
    throw new Error(`${token} is not mocked`);
  },
};

/** The first preview: there are no secrets yet. */
export const firstPreview: MockOptions = { ...talosMocks, preview: true, state: ({ inputs }) => inputs };
