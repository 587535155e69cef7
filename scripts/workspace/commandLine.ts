// What a person types behind a command: read, or refused. Every command knows --help, which does nothing but tell.
import { type ParseArgsOptionsConfig, parseArgs } from "node:util";
import { environmentList } from "./environments.ts";
import { Failure } from "./fail.ts";

const help = { type: "boolean" } as const;

/** For a command that takes nothing: whether its help was asked for, which is told then. */
export function onlyHelp(usage: string): boolean {
  const { values } = parseArgs({ options: { help } });
  if (values.help) console.log(usage);
  return values.help === true;
}

/** For a command on an environment: undefined where its help was asked for, which is told then. `takesMore` is of more names behind that of the environment. */
export async function readEnvironmentCall<const Options extends ParseArgsOptionsConfig>(
  usage: string,
  options: Options,
  { takesMore = false } = {},
) {
  const { values, positionals } = parseArgs({ allowPositionals: true, options: { ...options, help } });
  const told = `${usage}\n\nEnvironments: ${await environmentList()}.`;
  if ("help" in values && values.help === true) {
    console.log(told);
    return undefined;
  }
  const [environment, ...more] = positionals;
  if (environment === undefined) throw new Failure(`which environment?\n${told}`);
  if (more.length > 0 && !takesMore) throw new Failure(`there is nothing to do with '${more.join(" ")}'.\n${told}`);
  return { environment, more, values };
}
