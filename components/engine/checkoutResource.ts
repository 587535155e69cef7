// The part of a dynamic resource that runs in the program: its type, its secrets, and where the code is that does its work.
import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import * as pulumi from "@pulumi/pulumi";
import { ownRow } from "./ownRow.ts";

/** What all resources of one type have in common. */
export interface CheckoutType {
  /** The resource's own file, as `import.meta.url`. Its operations are in `<resource>.provider.ts` next to `<resource>.ts`. */
  readonly url: string;
  /** Together with the name, the type in the graph: `pulumi-nodejs:dynamic/<module>:<name>`. */
  readonly module: string;
  readonly name: string;
  /** Its former name: a resource of that type in the state is this resource. docs/decisions/provider-paths.md */
  readonly formerName?: string;
  /** Inputs and outputs that are kept as secrets. */
  readonly secrets?: readonly string[];
  /** Outputs that are known only after the operation. */
  readonly outputs?: readonly string[];
}

/** A value once all inputs in it are known. The SDK's own type turns `unknown` into `never`. */
export type Unwrapped<T> = unknown extends T
  ? T
  : T extends pulumi.OutputInstance<infer Value> | Promise<infer Value>
    ? Unwrapped<Value>
    : T extends object
      ? { [Key in keyof T]: Unwrapped<T[Key]> }
      : T;

/** The inputs of a resource as its provider gets them: its arguments, and the resource's own URN, with which it finds its row. */
export type ResourceInputs<Args> = Unwrapped<Args> & { readonly row: string };

/**
 * A dynamic resource whose provider is a file of the checkout. The engine keeps the source text of a provider in the state and runs that text on refresh and
 * delete. Here the text only loads the file, so the current code always runs. docs/architecture.md
 */
export abstract class CheckoutResource extends pulumi.dynamic.Resource {
  constructor(
    { url, module, name: type, formerName, secrets = [], outputs = [] }: CheckoutType,
    name: string,
    inputs: object,
    opts: pulumi.CustomResourceOptions = {},
  ) {
    const marked = Object.entries(inputs).map(([key, value]) =>
      value !== undefined && secrets.includes(key) ? [key, pulumi.secret(value)] : [key, value],
    );
    super(
      providerBeside(url),
      name,
      {
        ...Object.fromEntries(outputs.map((key) => [key, undefined])),
        ...Object.fromEntries(marked),
        row: ownRow(typeToken(module, type), name, opts.parent),
      },
      pulumi.mergeOptions(opts, {
        additionalSecretOutputs: [...secrets],
        aliases: formerName === undefined ? [] : [{ type: typeToken(module, formerName) }],
      }),
      module,
      type,
    );
  }
}

/** The type of a dynamic resource in the graph. */
function typeToken(module: string, name: string): string {
  return `pulumi-nodejs:dynamic/${module}:${name}`;
}

const root = fileURLToPath(new URL("../../", import.meta.url));
/** One object per file, so that the SDK serialises it only once. */
const providers = new Map<string, pulumi.dynamic.ResourceProvider>();

function providerBeside(url: string): pulumi.dynamic.ResourceProvider {
  const known = providers.get(url);
  if (known !== undefined) return known;
  const made = providerAt(relative(root, fileURLToPath(url)).replace(/\.ts$/, ".provider.ts"));
  providers.set(url, made);
  return made;
}

/**
 * The state holds what this returns, as text: no more than the file's path and the way to it. The engine runs it in the folder of the program. A refresh and a
 * destroy run no program that could have refused an older Node (main.mjs); the SDK would print an error again, with its stack.
 */
function providerAt(file: string): pulumi.dynamic.ResourceProvider {
  const open = () => import(`${process.cwd()}/${file}`);
  const load = () =>
    open().catch((error) => {
      if (error.code !== "ERR_UNKNOWN_FILE_EXTENSION") throw error;
      console.error = () => undefined;
      const folder = `node_modules/node-${process.platform}-${process.arch}/bin`;
      throw new Error(
        `Sluice runs on Node 24, and the 'node' on PATH is ${process.versions.node}: export PATH="$PWD/${folder}:$PATH"`,
      );
    });
  return {
    create: async (inputs) => (await load()).create(inputs),
    read: async (id, state) => (await load()).read(id, state),
    diff: async (id, olds, news) => (await load()).diff(id, olds, news),
    update: async (id, olds, news) => (await load()).update(id, olds, news),
    delete: async (id, state) => (await load()).remove(id, state),
  };
}
