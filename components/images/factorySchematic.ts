import * as pulumi from "@pulumi/pulumi";
import { type Schematic, schematicId, schematicYaml } from "./schematic.ts";

export interface FactorySchematicArgs {
  /** Host of the Image Factory. Where it is reached may say IMAGE_FACTORY_ENDPOINT. */
  readonly factory: string;
  readonly schematic: Schematic;
  /** Seconds in which the factory must know it. */
  readonly deadline: number;
}

/**
 * A schematic that the Image Factory knows, so that it makes images of it. It forgets none, so destroying this does nothing, and a refresh does not ask.
 */
export class FactorySchematic extends pulumi.dynamic.Resource {
  constructor(name: string, args: FactorySchematicArgs, opts?: pulumi.CustomResourceOptions) {
    const { factory, schematic, deadline } = args;
    const inputs = { factory, schematic: schematicYaml(schematic), schematicId: schematicId(schematic), deadline };
    super(provider, name, inputs, opts, "images", "FactorySchematic");
  }
}

/** The engine keeps this text in the state, so it holds no more than the way to the code. */
const provider: pulumi.dynamic.ResourceProvider = {
  create: async (inputs) =>
    (await import(`${process.cwd()}/components/images/factorySchematicRegistration.ts`)).create(inputs),
  diff: async (id, before, inputs) =>
    (await import(`${process.cwd()}/components/images/factorySchematicRegistration.ts`)).diff(id, before, inputs),
};
