// The Talos that a node is to run: that which its own config would install.
import { schematicId } from "../images/schematic.ts";
import { isMapping, machineSection } from "./configDocuments.ts";

export interface WantedTalos {
  /** The image that installs and upgrades to it. */
  readonly installer: string;
  readonly version: string;
  /** Of the Image Factory; undefined where the image is of no factory. */
  readonly schematic: string | undefined;
}

/** What a node runs, as far as it tells. */
export interface RunningTalos {
  readonly version: string;
  /** Empty where the image is of no Image Factory. */
  readonly schematic: string;
  readonly stage: string;
}

/** Plain Talos: an image without a schematic lacks nothing of it. */
const plain = schematicId({ extensions: [], kernelArgs: [] });
/** The stages of a node that has booted from its own disk. Before, it is the medium that it installs from. */
const installed = new Set(["booting", "running"]);

const factoryImage = /\/([0-9a-f]{64}):v?(\d+\.\d+\.\d+[^:/@]*)$/;
const plainImage = /:v?(\d+\.\d+\.\d+[^:/@]*)$/;

/** Undefined where the config does not tell. */
export function wantedTalos(config: string): WantedTalos | undefined {
  const install = machineSection(config)?.install;
  const installer = isMapping(install) ? install.image : undefined;
  if (typeof installer !== "string") return undefined;
  const [, schematic, version = plainImage.exec(installer)?.[1]] = factoryImage.exec(installer) ?? [];
  return version === undefined ? undefined : { installer, version, schematic };
}

/**
 * In words, each way in which a node that is installed runs another Talos than it is to. `own` is the schematic of the image that the machine was made
 * from: it has the node's own META besides, and is as good as the installer's.
 */
export function talosFaults(running: RunningTalos, wanted: WantedTalos, own?: string): readonly string[] {
  if (!installed.has(running.stage)) return [];
  const faults: string[] = [];
  if (running.version !== wanted.version) {
    faults.push(`runs Talos ${running.version || "of an unknown version"}, not ${wanted.version}`);
  }
  if (wanted.schematic !== undefined && !isGood(running.schematic, wanted.schematic, own)) {
    faults.push(
      running.schematic === ""
        ? `runs an image without a schematic, as a bare installer leaves it: its extensions are gone. It is to be ${short(wanted.schematic)}`
        : `runs schematic ${short(running.schematic)}, not ${short(wanted.schematic)}`,
    );
  }
  return faults;
}

function isGood(schematic: string, wanted: string, own: string | undefined): boolean {
  return schematic === "" ? wanted === plain : schematic === wanted || schematic === own;
}

/**
 * What a person types to mend it; nothing of this program changes the Talos of a node. By the environment's talosconfig it is asked of a control plane:
 * talosctl drains the node first, and a worker could not tell it how to reach Kubernetes.
 */
export function upgradeRemedy(address: string, { installer }: WantedTalos): string {
  return (
    `talosctl upgrade --nodes ${address} --image ${installer}\n` +
    "Then run it again. Where what it runs is what you want, say so in the environment: talosVersion, image."
  );
}

function short(schematic: string): string {
  return `${schematic.slice(0, 12)}...`;
}
