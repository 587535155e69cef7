// The machine secrets of a cluster in Talos' own format, secrets.yaml: what `talosctl gen secrets` writes, and `talosctl gen config --with-secrets` reads.
import { parse, stringify } from "yaml";
import { sha256 } from "../../model/contentHash.ts";
import { isMapping, record, text } from "../../model/untyped.ts";

/** A certificate and its key: PEM, in base64. */
export interface KeyPair {
  readonly crt: string;
  readonly key: string;
}

/** The keys are those of the format. All values are texts. */
export interface SecretsBundle {
  readonly cluster: { readonly id: string; readonly secret: string };
  readonly secrets: {
    readonly bootstraptoken: string;
    readonly secretboxencryptionsecret?: string;
    readonly aescbcencryptionsecret?: string;
  };
  readonly trustdinfo: { readonly token: string };
  readonly certs: {
    readonly etcd: KeyPair;
    readonly k8s: KeyPair;
    readonly k8saggregator: KeyPair;
    readonly k8sserviceaccount: { readonly key: string };
    readonly os: KeyPair;
  };
}

/** Where a value is: `certs.etcd.key`. */
export type BundlePath = (typeof paths)[number];

/** What is wrong at a place. It never contains a value. */
export interface BundleFault {
  readonly path: string;
  readonly message: string;
}

const required = [
  "cluster.id",
  "cluster.secret",
  "secrets.bootstraptoken",
  "trustdinfo.token",
  ...(["etcd", "k8s", "k8saggregator", "os"] as const).flatMap(
    (owner) => [`certs.${owner}.crt`, `certs.${owner}.key`] as const,
  ),
  "certs.k8sserviceaccount.key",
] as const;

/** Kubernetes encrypts Secrets in etcd with one of them: with the second in a cluster that began before Talos 1.3. */
const encryption = ["secrets.secretboxencryptionsecret", "secrets.aescbcencryptionsecret"] as const;

const paths = [...required, ...encryption] as const;

/** Reads a document of the format, from its text or parsed. Returns the faults instead if it is not complete. */
export function readBundle(document: unknown): SecretsBundle | readonly BundleFault[] {
  const read = typeof document === "string" ? parsed(document) : document;
  if (!isMapping(read)) return [{ path: "", message: "is not a secrets.yaml of Talos: it is no map" }];
  const values = leaves(read);
  const faults = [
    ...required.filter((path) => !values.has(path)).map((path) => ({ path, message: "is missing" })),
    ...(encryption.some((path) => values.has(path))
      ? []
      : [{ path: encryption[0], message: `is missing, and so is ${encryption[1]}` }]),
    ...[...values].flatMap(([path, value]) => shapeFault(path, value)),
  ];
  return faults.length > 0 ? faults : bundleOf((path) => compact(text(values.get(path))));
}

export function isBundle(read: SecretsBundle | readonly BundleFault[]): read is SecretsBundle {
  return "cluster" in read;
}

/** A fault in one line. */
export function faultText({ path, message }: BundleFault): string {
  return path === "" ? message : `${path} ${message}`;
}

/** Puts a bundle together from the value at each place; an empty one is left out, where that is allowed. */
export function bundleOf(at: (path: BundlePath) => string): SecretsBundle {
  const [secretbox, aescbc] = encryption.map(at);
  const pair = (owner: "etcd" | "k8s" | "k8saggregator" | "os"): KeyPair => ({
    crt: at(`certs.${owner}.crt`),
    key: at(`certs.${owner}.key`),
  });
  return {
    cluster: { id: at("cluster.id"), secret: at("cluster.secret") },
    secrets: {
      bootstraptoken: at("secrets.bootstraptoken"),
      ...(secretbox && { secretboxencryptionsecret: secretbox }),
      ...(aescbc && { aescbcencryptionsecret: aescbc }),
    },
    trustdinfo: { token: at("trustdinfo.token") },
    certs: {
      etcd: pair("etcd"),
      k8s: pair("k8s"),
      k8saggregator: pair("k8saggregator"),
      k8sserviceaccount: { key: at("certs.k8sserviceaccount.key") },
      os: pair("os"),
    },
  };
}

/** As Talos writes it. */
export function bundleText(bundle: SecretsBundle): string {
  return stringify(bundle, { version: "1.1", lineWidth: 0, indent: 4 });
}

/** The places at which two bundles differ. */
export function differences(one: SecretsBundle, other: SecretsBundle): readonly BundlePath[] {
  const [left, right] = [leaves(one), leaves(other)];
  return paths.filter((path) => left.get(path) !== right.get(path));
}

/** Undefined if the text cannot be read. The parser's own message would quote it. */
function parsed(document: string): unknown {
  try {
    return parse(document, { logLevel: "error" });
  } catch {
    return undefined;
  }
}

/** The values by their places; a key without a value counts as missing. */
function leaves(document: object): ReadonlyMap<string, unknown> {
  const found = new Map<string, unknown>();
  const walk = (value: unknown, path: string) => {
    if (isMapping(value)) for (const [key, inner] of Object.entries(value)) walk(inner, path ? `${path}.${key}` : key);
    else if (value !== null && value !== undefined && value !== "") found.set(path, value);
  };
  walk(document, "");
  return found;
}

function shapeFault(path: string, value: unknown): readonly BundleFault[] {
  if (!paths.some((known) => known === path)) {
    // What is not a name could be a secret that was misplaced.
    const shown = /^[A-Za-z]{1,40}(\.[A-Za-z0-9]{1,40}){0,3}$/.test(path) ? path : "";
    return [{ path: shown, message: "is a key that Sluice does not know, and would be lost" }];
  }
  return typeof value === "string" ? [] : [{ path, message: "must be text" }];
}

/** Base64 may be wrapped; nothing else in a bundle has white space. */
function compact(value: string): string {
  return value.replace(/\s+/g, "");
}

/** The machine secrets as the Talos plugin has them, in `talos.machine.Secrets` and as the input of its generator. */
export interface PluginSecrets {
  readonly cluster: { readonly id: string; readonly secret: string };
  readonly secrets: {
    readonly bootstrapToken: string;
    readonly secretboxEncryptionSecret: string;
    readonly aescbcEncryptionSecret?: string;
  };
  readonly trustdinfo: { readonly token: string };
  readonly certs: {
    readonly etcd: PluginPair;
    readonly k8s: PluginPair;
    readonly k8sAggregator: PluginPair;
    readonly k8sServiceaccount: { readonly key: string };
    readonly os: PluginPair;
  };
}

interface PluginPair {
  readonly cert: string;
  readonly key: string;
}

export function toPlugin({ cluster, secrets, trustdinfo, certs }: SecretsBundle): PluginSecrets {
  const pair = ({ crt, key }: KeyPair): PluginPair => ({ cert: crt, key });
  return {
    cluster,
    secrets: {
      bootstrapToken: secrets.bootstraptoken,
      secretboxEncryptionSecret: secrets.secretboxencryptionsecret ?? "",
      ...(secrets.aescbcencryptionsecret && { aescbcEncryptionSecret: secrets.aescbcencryptionsecret }),
    },
    trustdinfo,
    certs: {
      etcd: pair(certs.etcd),
      k8s: pair(certs.k8s),
      k8sAggregator: pair(certs.k8saggregator),
      k8sServiceaccount: certs.k8sserviceaccount,
      os: pair(certs.os),
    },
  };
}

/** From the plugin's form, or from that of its Terraform provider, whose names have underscores. */
export function fromPlugin(machineSecrets: unknown): SecretsBundle | readonly BundleFault[] {
  const { cluster, secrets, trustdinfo, certs } = plainNames(machineSecrets);
  const pairs = Object.entries(record(certs)).map(([owner, value]) => {
    const { cert, key } = record(value);
    return [owner, { crt: cert, key }];
  });
  return readBundle({ cluster, secrets, trustdinfo, certs: Object.fromEntries(pairs) });
}

/** Names without capitals and underscores, as Talos' format has them: `k8s_serviceaccount`, `bootstrapToken`. */
function plainNames(value: unknown): Readonly<Record<string, unknown>> {
  const entries = Object.entries(record(value)).map(([key, inner]) => [
    key.replaceAll("_", "").toLowerCase(),
    isMapping(inner) ? plainNames(inner) : inner,
  ]);
  return Object.fromEntries(entries);
}

/** Identifies a cluster. No secret, although it is derived from the cluster's id, which is one. */
export function clusterIdentifier({ cluster }: Pick<SecretsBundle, "cluster">): string {
  return sha256(cluster.id);
}
