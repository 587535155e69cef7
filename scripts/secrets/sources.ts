// Finds machine secrets in the files of other tools.
import { parseAllDocuments } from "yaml";
import { isMapping, list, record, text } from "../../components/model/untyped.ts";
import {
  type BundleFault,
  type BundlePath,
  bundleOf,
  faultText,
  fromPlugin,
  isBundle,
  readBundle,
  type SecretsBundle,
} from "../../components/talos/secrets/secretsBundle.ts";
import { Failure } from "../base/fail.ts";
import { secretsIn } from "./stateSecrets.ts";

export interface Source {
  /** What it was found in: "a machine config". */
  readonly kind: string;
  readonly bundle: SecretsBundle;
}

/** The format follows from the content. `address` names a resource of a Terraform state that has several. No message quotes the text. */
export function readSource(file: string, address?: string): Source {
  const documents = documentsIn(file);
  const [first] = documents;
  if (documents.some((document) => "sops" in document)) {
    throw new Failure(
      "the file is encrypted by SOPS: decrypt it, and pass it on: sops -d <file> | npm run secrets -- import <environment> --file -",
    );
  }
  const config = documents.find((document) => isMapping(document.machine) && isMapping(document.cluster));
  if (config !== undefined) return { kind: "a machine config", bundle: ofMachineConfig(config) };
  if (first !== undefined && Array.isArray(first.resources)) return ofTerraform(first, address);
  if (first !== undefined && "deployment" in first) {
    const found = secretsIn(first);
    if (found === undefined)
      throw new Failure("the state of Pulumi has no talos:machine/secrets:Secrets, or none in plain text.");
    return { kind: "a Pulumi state", bundle: found };
  }
  return { kind: "a secrets.yaml", bundle: complete(readBundle(first)) };
}

/** The maps in the file, which is YAML or JSON. */
function documentsIn(file: string): readonly Readonly<Record<string, unknown>>[] {
  const documents = [...parseAllDocuments(file, { logLevel: "silent" })];
  // The parser's own message would quote the text.
  if (documents.some(({ errors }) => errors.length > 0)) throw new Failure("the file is neither YAML nor JSON.");
  return documents.map((document) => document.toJS()).filter(isMapping);
}

/** Where a machine config of a control plane has each secret. */
const configPaths: Readonly<Record<BundlePath, string>> = {
  "cluster.id": "cluster.id",
  "cluster.secret": "cluster.secret",
  "secrets.bootstraptoken": "cluster.token",
  "secrets.secretboxencryptionsecret": "cluster.secretboxEncryptionSecret",
  "secrets.aescbcencryptionsecret": "cluster.aescbcEncryptionSecret",
  "trustdinfo.token": "machine.token",
  "certs.etcd.crt": "cluster.etcd.ca.crt",
  "certs.etcd.key": "cluster.etcd.ca.key",
  "certs.k8s.crt": "cluster.ca.crt",
  "certs.k8s.key": "cluster.ca.key",
  "certs.k8saggregator.crt": "cluster.aggregatorCA.crt",
  "certs.k8saggregator.key": "cluster.aggregatorCA.key",
  "certs.k8sserviceaccount.key": "cluster.serviceAccount.key",
  "certs.os.crt": "machine.ca.crt",
  "certs.os.key": "machine.ca.key",
};

/** From the document that has `machine` and `cluster`. */
function ofMachineConfig(config: Readonly<Record<string, unknown>>): SecretsBundle {
  if (record(config.machine).type === "worker") {
    throw new Failure("the file is the machine config of a worker, which has no keys: use that of a control plane.");
  }
  const at = (path: BundlePath) => {
    const value = configPaths[path].split(".").reduce<unknown>((inner, key) => record(inner)[key], config);
    return text(value);
  };
  return complete(readBundle(bundleOf(at)), (path) => configPaths[path as BundlePath] ?? path);
}

function ofTerraform(state: Readonly<Record<string, unknown>>, address: string | undefined): Source {
  const found = list(state.resources)
    .map(record)
    .filter(({ mode, type }) => mode === "managed" && type === "talos_machine_secrets")
    .flatMap((resource) =>
      list(resource.instances).map((instance) => ({
        address: addressOf(resource, record(instance)),
        secrets: record(record(instance).attributes).machine_secrets,
      })),
    );
  const named = found.filter((one) => address === undefined || one.address === address);
  const [only] = named;
  if (only === undefined || named.length > 1) {
    const which = found.map((one) => one.address).join(", ") || "none";
    const wanted = address === undefined ? "one talos_machine_secrets is needed" : `there is no ${address}`;
    throw new Failure(`${wanted}: the Terraform state has ${which}. Name one with --resource <address>.`);
  }
  // Before version 0.2 the provider kept them as the text of a secrets.yaml.
  const read = typeof only.secrets === "string" ? readBundle(only.secrets) : fromPlugin(only.secrets);
  return { kind: `${only.address} of a Terraform state`, bundle: complete(read) };
}

function addressOf(
  { module, type, name }: Readonly<Record<string, unknown>>,
  instance: Readonly<Record<string, unknown>>,
) {
  const { index_key: index } = instance;
  const place = index === undefined ? "" : `[${JSON.stringify(index)}]`;
  return `${module === undefined ? "" : `${text(module)}.`}${text(type)}.${text(name)}${place}`;
}

function complete(read: SecretsBundle | readonly BundleFault[], named = (path: string) => path): SecretsBundle {
  if (isBundle(read)) return read;
  const lines = read.map((fault) => `  ${faultText({ ...fault, path: named(fault.path) })}`);
  throw new Failure(`the file does not have all machine secrets of a cluster:\n${lines.join("\n")}`);
}
