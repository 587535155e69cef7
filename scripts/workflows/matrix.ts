// Which environments a workflow can check with the credentials that it has.
import { parse } from "yaml";

export interface Candidate {
  readonly name: string;
  /** The text of its Pulumi.<name>.yaml. */
  readonly settings: string;
}

export interface Matrix {
  readonly environments: readonly string[];
  /** Why environments are left out, for the run's page. */
  readonly notices: readonly string[];
}

/**
 * A preview needs no account and no backend. Anyone can preview an environment without encrypted values, even in a pull request from a fork, where there are
 * no secrets.
 */
export function previewMatrix(candidates: readonly Candidate[], environment: NodeJS.ProcessEnv): Matrix {
  const undecryptable = candidates.filter(({ settings }) => !canDecrypt(settings, environment)).map(({ name }) => name);
  return {
    environments: candidates.map(({ name }) => name).filter((name) => !undecryptable.includes(name)),
    notices: undecryptable.map(
      (name) => `${name} is not previewed: it has encrypted values, and this run has no key (docs/operations.md).`,
    ),
  };
}

/** Drift is a difference from the state, so there must be one. */
export function driftMatrix(candidates: readonly Candidate[], environment: NodeJS.ProcessEnv): Matrix {
  if (environment.PULUMI_BACKEND_URL) return { environments: candidates.map(({ name }) => name), notices: [] };
  return {
    environments: [],
    notices: [
      "Drift is not checked: the repository has no secret PULUMI_BACKEND_URL with the location of the state (docs/operations.md).",
    ],
  };
}

function canDecrypt(settings: string, environment: NodeJS.ProcessEnv): boolean {
  const { encryptionsalt, secretsprovider } = parse(settings) ?? {};
  if (encryptionsalt !== undefined) return Boolean(environment.PULUMI_CONFIG_PASSPHRASE);
  // A key service uses the credentials that come with those of the backend.
  return secretsprovider === undefined || Boolean(environment.PULUMI_BACKEND_URL);
}
