// What the engine asks of a FactorySchematic.
import { ApiError, isRetryableApiError } from "../api/apiError.ts";
import type { Api } from "../api/callApi.ts";
import type { ResourceInputs } from "../engine/checkoutResource.ts";
import { renamed } from "../engine/renamed.ts";
import type { ResourceContext } from "../engine/resourceContext.ts";
import { engineCalls, type ResourceOperations } from "../engine/resourceProvider.ts";
import { SluiceError } from "../errors/sluiceError.ts";
import { misspelt } from "../model/suggest.ts";
import { retryApi } from "../waiting/retry.ts";
import type { RegistrationArgs } from "./factorySchematic.ts";
import { imageFactory, officialExtensions, register } from "./imageFactory.ts";

export type RegistrationInputs = ResourceInputs<RegistrationArgs>;

export interface FactoryContext extends Pick<ResourceContext, "clock" | "random"> {
  readonly factory: (host: string) => Api;
}

export const operations = {
  id: ({ schematicId }) => schematicId,

  async create(inputs, { clock, random, factory: at }) {
    const { factory, schematic, schematicId, deadlineSeconds } = inputs;
    const limits = { clock, random, deadlineSeconds, retryable: isRetryableApiError };
    const told = await retryApi(() => register(at(factory), schematic), limits);
    if (!told.ok) throw refusal(factory, told.error);
    if (told.value !== schematicId) {
      const what = `schematic ${schematicId} at ${factory}`;
      throw new SluiceError({ code: "SLU-M112", what, seen: `it is ${told.value} there` });
    }
    const { talosVersion, extensions } = inputs;
    if (extensions.length === 0) return inputs;
    // The factory takes any name, and fails when the first image is made.
    const offered = await retryApi(() => officialExtensions(at(factory), talosVersion), limits);
    if (offered.ok) needOffered(inputs, offered.value);
    return inputs;
  },

  migrate: (state) => renamed(state, { deadline: "deadlineSeconds" }),

  /** Another schematic, or another factory, is registered as another resource. */
  difference(olds, news) {
    const keys = (["factory", "schematic"] as const).filter((key) => olds[key] !== news[key]);
    return keys.length === 0 ? { kind: "none" } : { kind: "replace", keys };
  },
} satisfies ResourceOperations<RegistrationInputs, RegistrationInputs, FactoryContext>;

export const { create, read, diff, update, remove } = engineCalls<
  RegistrationInputs,
  RegistrationInputs,
  FactoryContext
>(operations, (context) => ({
  ...context,
  factory: imageFactory,
}));

/** The list has no old names, which the factory still accepts: only what is nearly a name of the list is refused. */
function needOffered({ factory, talosVersion, extensions }: RegistrationInputs, offered: readonly string[]): void {
  const slips = extensions.flatMap((name) => {
    const meant = misspelt(name, offered);
    return meant === undefined ? [] : [`'${name}' is not among them - did you mean '${meant}'?`];
  });
  if (slips.length === 0) return;
  const what = `image.extensions to be official extensions of Talos ${talosVersion} at ${factory}`;
  throw new SluiceError({ code: "SLU-M116", what, seen: slips.join("; ") });
}

function refusal(factory: string, error: unknown): unknown {
  if (!(error instanceof ApiError)) return error;
  const what = `${factory} to know the schematic that the machines' images are made from`;
  return new SluiceError({ code: "SLU-M111", what, seen: error.message });
}
