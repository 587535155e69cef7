// How long a request of the engine's Kubernetes plugin may take. docs/decisions/helm-releases.md

const variable = "PULUMI_K8S_CLIENT_TIMEOUT";

/** Seconds. A refresh of a dead cluster needs four of them, one after another. */
const readSeconds = 2;

/**
 * This includes Helm's requests, and an API server that has just started answers some of them slowly. The gate KubernetesApi requires an answer in a third of
 * it.
 */
const writeSeconds = 30;

/** For the environment of a CLI call, by its command. The user's own value is kept. */
export function kubernetesTimeout(command: string | undefined, set = process.env): NodeJS.ProcessEnv {
  if (set[variable]) return {};
  return { [variable]: `${command === "up" ? writeSeconds : readSeconds}` };
}
