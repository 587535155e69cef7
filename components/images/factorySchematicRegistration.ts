// What the resource FactorySchematic does. The engine's provider process loads this file from the checkout, so the code that runs is always the current one.
import { failureMessage } from "../errors/failureMessage.ts";
import { type Clock, systemClock } from "../gates/clock.ts";
import { askPatiently } from "../talos/retry.ts";
import { type ImageFactory, ImageFactoryError, imageFactory, register } from "./imageFactory.ts";

export interface RegistrationInputs {
  /** Host of the Image Factory. */
  readonly factory: string;
  /** The schematic as the factory writes it down. */
  readonly schematic: string;
  /** Worked out here. */
  readonly schematicId: string;
  /** Seconds in which the factory must know it. */
  readonly deadline: number;
}

export interface Telling {
  readonly factory: (host: string) => ImageFactory;
  readonly clock: Clock;
  readonly chance: () => number;
}

export async function create(inputs: RegistrationInputs, telling: Telling = real) {
  const { factory, schematic, schematicId, deadline } = inputs;
  const { clock, chance } = telling;
  const told = await askPatiently(() => register(telling.factory(factory), schematic), {
    ...{ clock, chance, deadline },
    passes: (error) => error instanceof ImageFactoryError && error.mayPass,
  });
  if (!told.ok) throw refusal(factory, told.error);
  if (told.value !== schematicId) {
    const what = `schematic ${schematicId} at ${factory}`;
    throw new Error(failureMessage({ code: "SLU-M112", what, seen: `it is ${told.value} there` }));
  }
  return { id: schematicId, outs: inputs };
}

/** Offline. Another schematic, or another factory, is to be told anew. */
export async function diff(_id: string, before: RegistrationInputs, inputs: RegistrationInputs) {
  const replaces = (["factory", "schematic"] as const).filter((key) => before[key] !== inputs[key]);
  return { changes: replaces.length > 0, replaces };
}

function refusal(factory: string, error: unknown): unknown {
  if (!(error instanceof ImageFactoryError)) return error;
  const what = `${factory} to know the schematic that the machines' images are made from`;
  return new Error(failureMessage({ code: "SLU-M111", what, seen: error.message }));
}

const real: Telling = { factory: imageFactory, clock: systemClock, chance: Math.random };
