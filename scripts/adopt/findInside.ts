// Finds the machines of a running cluster on its platform, as a process of its own: the platform of a lab is reachable only from inside the lab, which sets the
// token. Reads what it needs from its standard input, and prints JSON.
import { text as readAll } from "node:stream/consumers";
import { ApiError } from "../../components/api/apiError.ts";
import { readClusterConfigFile } from "../../stacks/config/configFile.ts";
import type { AdoptionAccess } from "../../stacks/platforms/foundMachines.ts";

/** What it reads. */
export interface FindCall extends Pick<AdoptionAccess, "chosen"> {
  readonly file: string;
  /** What the environment's file would contain on the lab. */
  readonly settings?: string | undefined;
  /** The token that the environment's file has. Secret. */
  readonly token?: string | undefined;
  /** Where the token is otherwise. */
  readonly variable?: string | undefined;
}

/** Seconds for a call of the API. */
const deadlineSeconds = 10;

const { file, settings, token, variable, chosen }: FindCall = JSON.parse(await readAll(process.stdin));
const { config } = readClusterConfigFile(file, settings);
const used = token ?? process.env[variable ?? ""] ?? "";
try {
  console.log(JSON.stringify(await config.platform.adoption?.find(config, { token: used, deadlineSeconds, chosen })));
} catch (error) {
  if (!(error instanceof ApiError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
