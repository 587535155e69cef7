// A plugin's own schema, read from the plugin that the toolchain built.
import messages from "@pulumi/pulumi/proto/provider_pb.js";
import { answer, withPlugin } from "./plugin.ts";

/** The compared parts of Pulumi's package schema. https://www.pulumi.com/docs/iac/packages-and-automation/pulumi-packages/schema/ */
export interface PluginSchema {
  readonly name: string;
  readonly language?: { readonly nodejs?: { readonly compatibility?: string } };
  readonly types?: Readonly<Record<string, ObjectSchema | EnumSchema>>;
  readonly provider: ResourceSchema;
  readonly resources: Readonly<Record<string, ResourceSchema>>;
  readonly functions?: Readonly<Record<string, FunctionSchema>>;
}

export interface ObjectSchema {
  readonly type?: "object";
  readonly properties?: Readonly<Record<string, TypeSchema>>;
  readonly required?: readonly string[];
  /** Where one side requires more or fewer properties of an object type than `required` says. */
  readonly language?: {
    readonly nodejs?: { readonly requiredInputs?: readonly string[]; readonly requiredOutputs?: readonly string[] };
  };
}

export interface EnumSchema {
  readonly type: string;
  readonly enum: readonly unknown[];
}

export interface ResourceSchema extends ObjectSchema {
  readonly inputProperties?: Readonly<Record<string, TypeSchema>>;
  readonly requiredInputs?: readonly string[];
  /** It is written by hand in every language and not generated. */
  readonly isOverlay?: boolean;
}

export interface FunctionSchema {
  readonly inputs?: ObjectSchema;
  readonly outputs?: ObjectSchema;
}

export interface TypeSchema {
  readonly type?: string;
  readonly $ref?: string;
  readonly items?: TypeSchema;
  readonly additionalProperties?: TypeSchema;
  readonly oneOf?: readonly TypeSchema[];
  readonly const?: unknown;
}

/** The schema of the plugin of that name. */
export async function pluginSchema(name: string): Promise<PluginSchema> {
  const response = await withPlugin(name, (client) =>
    answer<messages.GetSchemaResponse>((done) => client.getSchema(new messages.GetSchemaRequest(), done)),
  );
  return JSON.parse(response.getSchema());
}
