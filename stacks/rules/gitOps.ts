import { hasFlux } from "../platformParts.ts";
import { rule } from "./rule.ts";

/** Flux without a repository would reconcile nothing, and its gate would wait in vain. */
export const gitSource = rule(["flux"], function* ({ flux }) {
  if (flux.enabled === true && flux.url === undefined) {
    yield { path: "flux.url", message: "is missing, but flux.enabled is true: which repository is it to reconcile?" };
  }
  // Told here and not by the schema, which would show what it was given.
  if (/^https?:\/\/[^/]*@/.test(flux.url ?? "")) {
    yield {
      path: "flux.url",
      message: "holds a name or a password: use flux.username and fluxGitPassword, which is kept secret",
    };
  }
});

/** A credential that does not go with the URL would not be used, and the repository not be read. */
export const gitCredentials = rule(["flux", "fluxGitPassword", "fluxGitSshKey"], function* (config) {
  const { flux, fluxGitPassword: password, fluxGitSshKey: sshKey } = config;
  const isSsh = flux.url?.startsWith("ssh://") ?? false;
  if (password !== undefined && (isSsh || !hasFlux(config))) yield unused("fluxGitPassword", "https://");
  if (sshKey !== undefined && !isSsh) yield unused("fluxGitSshKey", "ssh://");
  if (isSsh && sshKey === undefined) {
    yield {
      path: "fluxGitSshKey",
      message: "is missing, but flux.url begins with ssh://, where nobody is let in without",
    };
  }
  if (isSsh && flux.knownHosts === undefined) {
    yield {
      path: "flux.knownHosts",
      message: "is missing, but flux.url begins with ssh://: give what 'ssh-keyscan <host>' prints, and check it",
    };
  }
});

function unused(path: string, scheme: string) {
  return { path, message: `is set, but nobody would use it: it is for a flux.url that begins with ${scheme}` };
}

export const sopsKey = rule(["flux", "sopsAgeKey"], function* (config) {
  const { sopsAgeKey } = config;
  if (sopsAgeKey === undefined) return;
  if (!hasFlux(config))
    yield { path: "sopsAgeKey", message: "is set, but Flux, which would use it, is not on: set flux.url" };
  if (!/^AGE-SECRET-KEY-1[0-9A-Z]{58}$/m.test(sopsAgeKey)) {
    yield {
      path: "sopsAgeKey",
      message:
        "holds no line of the form AGE-SECRET-KEY-1..., as age-keygen writes it; the value is secret and not shown",
    };
  }
});
