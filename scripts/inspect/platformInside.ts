// Asks the platform of an environment on a lab, as a process of its own: it is reachable only from inside the lab, which sets the token. Reads what it needs from
// its standard input, and prints JSON.
import { text as readAll } from "node:stream/consumers";
import { askPlatform, type PlatformAccess } from "../../stacks/askPlatform.ts";
import { readClusterConfigFile } from "../../stacks/config/configFile.ts";

/** What it reads. */
export interface PlatformCall {
  readonly file: string;
  /** What the environment's file would contain on the lab. */
  readonly settings?: string | undefined;
  /** The environment variable with the token. */
  readonly variable: string;
  readonly access: PlatformAccess;
}

const { file, settings, variable, access }: PlatformCall = JSON.parse(await readAll(process.stdin));
const { config } = readClusterConfigFile(file, settings);
console.log(JSON.stringify(await askPlatform(config, { ...access, token: process.env[variable] })));
process.exit(0);
