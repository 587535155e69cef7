// Asks the API of an environment's platform, before anything is created, whether it has what the environment names.
import { ApiError } from "../components/api/apiError.ts";
import { SluiceError } from "../components/errors/sluiceError.ts";
import { count } from "../components/model/count.ts";
import { faultLine } from "./base/fault.ts";
import type { ApiAccess, ApiAnswers } from "./platforms/apiCheck.ts";
import type { ClusterConfig } from "./schema/clusterConfig.ts";

/** Until all calls together count as not answered: a preview must stay fast where nothing answers. */
const deadlineSeconds = 3;

/** Set for an engine by the command that has asked already. */
export const askedVariable = "SLUICE_PLATFORM_ASKED";

export interface PlatformAccess extends Omit<ApiAccess, "token" | "deadlineSeconds"> {
  /** Secret. */
  readonly token?: string | undefined;
  /** Why there is no token, if that is not because none was given. */
  readonly reason?: string | undefined;
}

/** Never rejects because of the API: what it did not answer is named. */
export async function askPlatform(
  config: ClusterConfig,
  { token, reason, ...access }: PlatformAccess,
): Promise<ApiAnswers> {
  const { platform } = config;
  const { account, askApi } = platform;
  if (account === undefined || askApi === undefined) return { findings: [], unchecked: [] };
  if (token === undefined) {
    return { findings: [], unchecked: [reason ?? `no token: ${account.token.variable} is not set`] };
  }
  try {
    return await withinDeadline(askApi.call(platform, config, { ...access, token, deadlineSeconds }));
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.status !== 401) return { findings: [], unchecked: [error.message] };
    const message = `the token is not accepted: ${error.message}`;
    return { findings: [{ code: "SLU-M123", path: account.token.key, message }], unchecked: [] };
  }
}

/** Calls that follow each other, such as pages, have one deadline in common. */
async function withinDeadline<T>(work: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const late = new ApiError(`nothing within ${deadlineSeconds} s`);
  const timer = setTimeout(() => reject(late), deadlineSeconds * 1000);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** What stops a run, as one failure that lists everything; undefined if nothing does. */
export function platformFailure({ findings }: ApiAnswers, file: string): SluiceError | undefined {
  const [first, ...others] = findings
    .filter(({ isWarning }) => isWarning !== true)
    .map(({ code, path, message, remedy }) => ({ code, where: path, seen: message, remedy }));
  if (first === undefined) return undefined;
  return new SluiceError({ ...first, subject: `${file} has ${count(others.length + 1, "fault")}`, others });
}

/** One line for each. */
export function platformWarnings({ findings }: ApiAnswers): readonly string[] {
  return findings.filter(({ isWarning }) => isWarning === true).map((one) => faultLine(one));
}

/** One line for all that the API did not answer. */
export function platformSilence(
  { unchecked }: ApiAnswers,
  { title }: Pick<ClusterConfig["platform"], "title">,
): string | undefined {
  if (unchecked.length === 0) return undefined;
  return `not checked whether ${title} has what this environment names: ${unchecked.join("; ")}`;
}
