/**
 * The first and last Kubernetes minor version that each Talos minor version runs.
 * Source: MinimumKubernetesVersion and MaximumKubernetesVersion in siderolabs/talos
 * pkg/machinery/compatibility/talos1<minor> (v1.14.1), cut to the minor versions that Sluice knows, 1.31 and later.
 */
const kubernetesMinors: Readonly<Record<number, readonly [first: number, last: number]>> = {
  11: [31, 34],
  12: [31, 35],
  13: [31, 36],
  14: [32, 37],
};

/** The newest contract that configs are generated for. Later releases of Talos read it too. */
const newestContract = 13;
const talosMinors = Object.keys(kubernetesMinors).map(Number);
const versionFormat = /^v?(\d+)\.(\d+)\.(\d+)(-[0-9A-Za-z.-]+)?$/;

/** What an environment says about the contract. */
export interface ContractSettings {
  readonly configContract?: string | undefined;
  readonly talosVersion: string;
}

const contractFormat = /^v1\.(\d+)$/;

/** Why versions cannot be used together. */
export interface VersionFault {
  readonly path: "talosVersion" | "kubernetesVersion" | "configContract";
  readonly message: string;
}

/** Every fault of the pair, none when it is supported. Patch levels and pre-releases are not checked: they are released faster than this table. */
export function versionFaults(talos: string, kubernetes: string): readonly VersionFault[] {
  const talosMinor = minorOf(talos);
  const kubernetesMinor = minorOf(kubernetes);
  const range = talosMinor === undefined ? undefined : kubernetesMinors[talosMinor];
  const faults: VersionFault[] = [];

  if (talosMinor === undefined) {
    faults.push({ path: "talosVersion", message: notAVersion("Talos", talos, "1.12.6") });
  } else if (range === undefined) {
    faults.push({
      path: "talosVersion",
      message: `Talos ${talos} is not supported: set talosVersion to a release of ${span(talosMinors)}`,
    });
  }

  if (kubernetesMinor === undefined) {
    faults.push({ path: "kubernetesVersion", message: notAVersion("Kubernetes", kubernetes, "1.35.4") });
  } else if (range !== undefined && (kubernetesMinor < range[0] || kubernetesMinor > range[1])) {
    const others = talosMinors.filter((minor) => runs(minor, kubernetesMinor));
    const remedy = `set kubernetesVersion to a release of ${span(range)}`;
    faults.push({
      path: "kubernetesVersion",
      message:
        `Talos ${talos} does not run Kubernetes ${kubernetes}: ` +
        (others.length === 0 ? remedy : `${remedy}, or talosVersion to a release of ${span(others)}`),
    });
  }
  return faults;
}

/** Whether a Talos version is 1.`minor` or later. */
export function isAtLeast(version: string, minor: number): boolean {
  const actual = minorOf(version);
  if (actual === undefined) {
    throw new Error(notAVersion("Talos", version, "1.12.6"));
  }
  return actual >= minor;
}

/** The config contract for a Talos version, `v1.12` for `1.12.6`: what the generator may assume of the node that reads the config, and which defaults it writes. */
export function talosContract(version: string): string {
  const minor = minorOf(version);
  if (minor === undefined) {
    throw new Error(notAVersion("Talos", version, "1.12.6"));
  }
  return `v1.${Math.min(minor, newestContract)}`;
}

/** The contract of a new cluster. */
export function newContract({ configContract, talosVersion }: ContractSettings): string {
  return configContract ?? talosContract(talosVersion);
}

/** Whether a config contract is that of Talos 1.`minor` or later. */
export function isContractAtLeast(contract: string, minor: number): boolean {
  const actual = contractMinor(contract);
  if (actual === undefined) throw new Error(`'${contract}' is not a config contract`);
  return actual >= minor;
}

/**
 * The contract of a cluster whose state has no record of it: that of its first Talos version, which the machine secrets were made with. Secrets that were
 * imported report a Talos that is older than any that is supported.
 */
export function firstContract(secretsMadeWith = "", talosVersion: string): string {
  return isReadable(secretsMadeWith, talosVersion) ? secretsMadeWith : talosContract(talosVersion);
}

/** Why machine configs of this contract cannot be used by this Talos, which is a supported one; none if they can. */
export function contractFaults(contract: string, talosVersion: string): readonly VersionFault[] {
  const readable = talosMinors.filter((one) => isReadable(`v1.${one}`, talosVersion));
  if (readable.length === 0 || isReadable(contract, talosVersion)) return [];
  const contracts = span(readable).replaceAll("1.", "v1.");
  const message = `Talos ${talosVersion} does not take machine configs of contract ${contract}: set configContract to ${contracts}`;
  return [{ path: "configContract", message }];
}

function isReadable(contract: string, talosVersion: string): boolean {
  const [minor, newest] = [contractMinor(contract), minorOf(talosVersion)];
  if (minor === undefined || newest === undefined) return false;
  return talosMinors.includes(minor) && minor <= Math.min(newest, newestContract);
}

/** The table in docs/versions.md. */
export function versionTable(): string {
  const rows = Object.entries(kubernetesMinors).map(
    ([talos, [first, last]]) => `| 1.${talos} | 1.${first} | 1.${last} |`,
  );
  return ["| Talos | Kubernetes, from | to |", "| --- | --- | --- |", ...rows].join("\n");
}

/** 13 of `1.13.8`; undefined if it is no version of major 1. */
export function minorOf(version: string): number | undefined {
  const [, major, minor] = versionFormat.exec(version) ?? [];
  return major === "1" ? Number(minor) : undefined;
}

function contractMinor(contract: string): number | undefined {
  const [, minor] = contractFormat.exec(contract) ?? [];
  return minor === undefined ? undefined : Number(minor);
}

function runs(talosMinor: number, kubernetesMinor: number): boolean {
  const range = kubernetesMinors[talosMinor];
  return range !== undefined && kubernetesMinor >= range[0] && kubernetesMinor <= range[1];
}

function span(minors: readonly number[]): string {
  const [first, last] = [minors[0], minors.at(-1)];
  return first === last ? `1.${first}` : `1.${first} to 1.${last}`;
}

function notAVersion(product: string, version: string, example: string): string {
  return `'${version}' is not a version of ${product}: it must be a full version of major 1, such as ${example}`;
}
