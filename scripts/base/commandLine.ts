// Reads the arguments of a command, or refuses them. Every command has --help, which does nothing else.
import { type ParseArgsOptionsConfig, parseArgs } from "node:util";
import { environmentList } from "./environments.ts";
import { Failure } from "./fail.ts";

const help = { type: "boolean" } as const;

/** Options, and other arguments if the command accepts them; undefined if help was requested, which is then printed. */
export function readOptions<const Options extends ParseArgsOptionsConfig>(
  usage: string,
  options: Options,
  { allowPositionals = false } = {},
) {
  const { values, positionals } = parseArgs({ allowPositionals: true, options: { ...options, help } });
  if ("help" in values && values.help === true) {
    console.log(usage);
    return undefined;
  }
  if (positionals.length > 0 && !allowPositionals) {
    throw new Failure(`unexpected argument '${positionals.join(" ")}'.\n${usage}`);
  }
  return { values, positionals };
}

/** For a command without arguments: whether help was requested, which is then printed. */
export function onlyHelp(usage: string): boolean {
  return readOptions(usage, {}) === undefined;
}

/** For a command on an environment. `takesMore`: more names may follow the environment's. */
export async function readEnvironmentCall<const Options extends ParseArgsOptionsConfig>(
  usage: string,
  options: Options,
  { takesMore = false } = {},
) {
  const text = `${usage}\n\nEnvironments: ${await environmentList()}.`;
  const call = readOptions(text, options, { allowPositionals: true });
  if (call === undefined) return undefined;
  const { positionals, values } = call;
  const [environment, ...more] = positionals;
  if (environment === undefined) throw new Failure(`missing environment.\n${text}`);
  if (more.length > 0 && !takesMore) throw new Failure(`unexpected argument '${more.join(" ")}'.\n${text}`);
  return { environment, more, values };
}
