import type * as pulumi from "@pulumi/pulumi";
import { CheckoutResource, type CheckoutType } from "../engine/checkoutResource.ts";
import { type Schematic, schematicId, schematicYaml } from "./schematic.ts";

export interface FactorySchematicArgs {
  /** Host of the Image Factory. IMAGE_FACTORY_ENDPOINT may name another address for it. */
  readonly factory: string;
  readonly schematic: Schematic;
  /** For which the factory must have the extensions: in full and without `v`. */
  readonly talosVersion: string;
  /** Seconds in which the factory must know it. */
  readonly deadlineSeconds: number;
}

/** What its provider gets in place of the schematic: the text as the factory writes it, and the id that follows from it. */
export interface RegistrationArgs extends Pick<FactorySchematicArgs, "factory" | "talosVersion" | "deadlineSeconds"> {
  readonly schematic: string;
  readonly schematicId: string;
  /** Those in the schematic. */
  readonly extensions: readonly string[];
}

const type: CheckoutType = { url: import.meta.url, module: "images", name: "FactorySchematic" };

/**
 * Registers a schematic at the Image Factory, which then makes images of it. The factory never forgets a schematic, so destroying this does nothing, and a
 * refresh does not ask.
 */
export class FactorySchematic extends CheckoutResource {
  constructor(name: string, { schematic, ...args }: FactorySchematicArgs, opts?: pulumi.CustomResourceOptions) {
    const registration: RegistrationArgs = {
      ...args,
      schematic: schematicYaml(schematic),
      schematicId: schematicId(schematic),
      extensions: schematic.extensions,
    };
    super(type, name, registration, opts);
  }
}
