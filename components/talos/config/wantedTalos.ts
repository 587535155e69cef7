// The Talos that a node should run: the one that its own config installs.
import { schematicId } from "../../images/schematic.ts";
import { isMapping } from "../../model/untyped.ts";
import { machineSection } from "./configDocuments.ts";

export interface WantedTalos {
  /** The image that installs and upgrades to it. */
  readonly installer: string;
  readonly version: string;
  /** Of the Image Factory; undefined if the image is from no factory. */
  readonly schematic: string | undefined;
}

/** What a node runs, as far as it reports it. */
export interface RunningTalos {
  readonly version: string;
  /** Empty if the image is from no Image Factory. */
  readonly schematic: string;
  readonly stage: string;
}

/** Plain Talos: an image without a schematic is equivalent to it. */
const plain = schematicId({ extensions: [], kernelArgs: [] });
/** The stages of a node that has booted from its own disk. Before, it is the medium that it installs from. */
const installed = new Set(["booting", "running"]);

const factoryImage = /\/([0-9a-f]{64}):v?(\d+\.\d+\.\d+[^:/@]*)$/;
const plainImage = /:v?(\d+\.\d+\.\d+[^:/@]*)$/;

/** Undefined if the config does not say. */
export function wantedTalos(config: string): WantedTalos | undefined {
  const install = machineSection(config)?.install;
  const installer = isMapping(install) ? install.image : undefined;
  if (typeof installer !== "string") return undefined;
  const [, schematic, version = plainImage.exec(installer)?.[1]] = factoryImage.exec(installer) ?? [];
  return version === undefined ? undefined : { installer, version, schematic };
}

/**
 * Each way, in words, in which an installed node runs another Talos than it should. `own` is the schematic of the image that the machine was made
 * from: it also has the node's own META, and is equivalent to the installer's.
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
        ? `runs an image without a schematic, as a plain installer leaves it: its extensions are gone. It should be ${short(wanted.schematic)}`
        : `runs schematic ${short(running.schematic)}, not ${short(wanted.schematic)}`,
    );
  }
  return faults;
}

function isGood(schematic: string, wanted: string, own: string | undefined): boolean {
  return schematic === "" ? wanted === plain : schematic === wanted || schematic === own;
}

/** What to do about a node that was not upgraded although it runs another Talos: the state did not know that. */
export const upgradeRemedy =
  "`npm run up -- <environment> --refresh` finds that out and brings the node to the Talos that it should run, as an upgrade. If what it runs is what you want, set talosVersion and image to it.";

function short(schematic: string): string {
  return `${schematic.slice(0, 12)}...`;
}
