// Which environments a workflow can look at, with what it is given.
import { parse } from "yaml";

export interface Candidate {
  readonly name: string;
  /** The text of its Pulumi.<name>.yaml. */
  readonly settings: string;
}

export interface Matrix {
  readonly environments: readonly string[];
  /** Why something is left out, for the run's page. */
  readonly notices: readonly string[];
}

/**
 * A preview needs no account and no backend. All but an environment with encrypted values can be previewed by anyone,
 * also in a pull request from a fork, where there are no secrets.
 */
export function previewMatrix(candidates: readonly Candidate[], environment: NodeJS.ProcessEnv): Matrix {
  const shut = candidates.filter(({ settings }) => !canDecrypt(settings, environment)).map(({ name }) => name);
  return {
    environments: candidates.map(({ name }) => name).filter((name) => !shut.includes(name)),
    notices: shut.map(
      (name) => `${name} is not previewed: it has encrypted values, and this run has no key (docs/operations.md).`,
    ),
  };
}

/** Drift is what differs from a state, so there must be one to compare with. */
export function driftMatrix(candidates: readonly Candidate[], environment: NodeJS.ProcessEnv): Matrix {
  if (environment.PULUMI_BACKEND_URL) return { environments: candidates.map(({ name }) => name), notices: [] };
  return {
    environments: [],
    notices: [
      "Drift is not looked for: the repository has no secret PULUMI_BACKEND_URL that says where the state is (docs/operations.md).",
    ],
  };
}

function canDecrypt(settings: string, environment: NodeJS.ProcessEnv): boolean {
  const { encryptionsalt, secretsprovider } = parse(settings) ?? {};
  if (encryptionsalt !== undefined) return Boolean(environment.PULUMI_CONFIG_PASSPHRASE);
  // A key service is asked with credentials that come with the backend's.
  return secretsprovider === undefined || Boolean(environment.PULUMI_BACKEND_URL);
}
