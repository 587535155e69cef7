import { describe, expect, test } from "@jest/globals";
import { parse, stringify } from "yaml";
import { toPlugin } from "../../../components/talos/secrets/secretsBundle.ts";
import { readSource } from "../../../scripts/secrets/sources.ts";
import { secretsBundle, secretsText } from "../../support/secretsFixture.ts";

const { cluster, secrets, trustdinfo, certs } = secretsBundle;

const controlPlane = {
  version: "v1alpha1",
  machine: { type: "controlplane", token: trustdinfo.token, ca: certs.os, install: { disk: "/dev/sda" } },
  cluster: {
    ...cluster,
    token: secrets.bootstraptoken,
    secretboxEncryptionSecret: secrets.secretboxencryptionsecret,
    ca: certs.k8s,
    aggregatorCA: certs.k8saggregator,
    serviceAccount: certs.k8sserviceaccount,
    etcd: { ca: certs.etcd },
  },
};

/** As the Terraform provider names them. */
function terraformSecrets() {
  const { k8sAggregator, k8sServiceaccount, ...others } = toPlugin(secretsBundle).certs;
  return {
    cluster,
    trustdinfo,
    certs: { ...others, k8s_aggregator: k8sAggregator, k8s_serviceaccount: k8sServiceaccount },
    secrets: {
      aescbc_encryption_secret: null,
      bootstrap_token: secrets.bootstraptoken,
      secretbox_encryption_secret: secrets.secretboxencryptionsecret,
    },
  };
}

const resource = (machine_secrets: unknown, more: object = {}, index?: unknown) => ({
  mode: "managed",
  type: "talos_machine_secrets",
  name: "this",
  instances: [
    { ...(index !== undefined && { index_key: index }), attributes: { id: "machine_secrets", machine_secrets } },
  ],
  ...more,
});
const terraform = (...resources: readonly unknown[]) =>
  JSON.stringify({ version: 4, terraform_version: "1.9.0", resources });

describe("machine secrets are found (S7.1)", () => {
  test.each([
    ["a secrets.yaml", secretsText],
    ["a machine config", stringify(controlPlane)],
    ["a machine config", `${stringify(controlPlane)}---\napiVersion: v1alpha1\nkind: HostnameConfig\nhostname: cp-1\n`],
    [
      "talos_machine_secrets.this of a Terraform state",
      terraform({ mode: "data", type: "talos_machine_configuration", name: "this" }, resource(terraformSecrets())),
    ],
    [
      "module.talos.talos_machine_secrets.this of a Terraform state",
      terraform(resource(terraformSecrets(), { module: "module.talos" })),
    ],
    ["talos_machine_secrets.this of a Terraform state", terraform(resource(secretsText))],
    [
      "a Pulumi state",
      JSON.stringify({
        version: 3,
        deployment: {
          resources: [
            {
              type: "talos:machine/secrets:Secrets",
              outputs: { machineSecrets: { plaintext: JSON.stringify(toPlugin(secretsBundle)) } },
            },
          ],
        },
      }),
    ],
  ])("in %s", (kind, text) => {
    expect(readSource(text)).toEqual({ kind, bundle: secretsBundle });
  });

  test("in the resource of a Terraform state that is named, where it has several", () => {
    const other = { ...terraformSecrets(), cluster: { id: "other", secret: "other" } };
    const state = terraform(resource(terraformSecrets(), {}, "a"), resource(other, {}, "b"));
    expect(readSource(state, 'talos_machine_secrets.this["a"]').bundle).toEqual(secretsBundle);
    expect(() => readSource(state)).toThrow(
      'one talos_machine_secrets is needed: the Terraform state has talos_machine_secrets.this["a"], talos_machine_secrets.this["b"]. Name one with --resource <address>.',
    );
    expect(() => readSource(state, "talos_machine_secrets.that")).toThrow("there is no talos_machine_secrets.that");
  });
});

describe("a file without all machine secrets is refused, and nothing of it is quoted (S7.1)", () => {
  test.each([
    [
      "the file is the machine config of a worker, which has no keys: use that of a control plane.",
      stringify({ ...controlPlane, machine: { ...controlPlane.machine, type: "worker" } }),
    ],
    [
      "the file does not have all machine secrets of a cluster:\n  cluster.etcd.ca.key is missing",
      stringify({ ...controlPlane, cluster: { ...controlPlane.cluster, etcd: { ca: { crt: certs.etcd.crt } } } }),
    ],
    [
      "the file does not have all machine secrets of a cluster:\n  trustdinfo.token is missing",
      stringify({ ...parse(secretsText), trustdinfo: {} }),
    ],
    [
      "the file is encrypted by SOPS: decrypt it, and pass it on: sops -d <file> | npm run secrets -- import <environment> --file -",
      stringify({ ...parse(secretsText), sops: { version: "3.9" } }),
    ],
    ["one talos_machine_secrets is needed: the Terraform state has none.", terraform()],
    ["the state of Pulumi has no talos:machine/secrets:Secrets, or none in plain text.", '{ "deployment": {} }'],
    ["the file is neither YAML nor JSON.", "{ token: hidden"],
  ])("%s", (message, text) => {
    expect(() => readSource(text)).toThrow(message);
  });
});
