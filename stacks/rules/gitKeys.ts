import { isPublicKey, privateKeyFault } from "../../components/model/privateKey.ts";
import { hasFlux } from "../parts/clusterParts.ts";
import { rule } from "./rule.ts";

const hidden = "the value is secret and not shown";

/** A credential for another scheme than the URL's would not be used, and the repository could not be fetched. */
export const gitCredentials = rule(["flux", "fluxGitPassword", "fluxGitSshKey"], function* (config) {
  const { flux, fluxGitPassword: password, fluxGitSshKey: sshKey } = config;
  const isSsh = flux.url?.startsWith("ssh://") ?? false;
  if (password !== undefined && (isSsh || !hasFlux(config))) yield unused("fluxGitPassword", "https://");
  if (sshKey !== undefined && !isSsh) yield unused("fluxGitSshKey", "ssh://");
  if (password !== undefined && /[\r\n]/.test(password)) {
    yield { path: "fluxGitPassword", message: `has a line break: it must be the password alone; ${hidden}` };
  }
  if (isSsh && sshKey === undefined) {
    yield {
      path: "fluxGitSshKey",
      message: "is missing, but flux.url begins with ssh://, which requires a key",
    };
  }
  if (isSsh && flux.knownHosts === undefined) {
    yield {
      path: "flux.knownHosts",
      message:
        "is missing, but flux.url begins with ssh://: check what 'ssh-keyscan <host>' prints, and set it to that",
    };
  }
});

function unused(path: string, scheme: string) {
  return { path, message: `is set, but would not be used: it is for a flux.url that begins with ${scheme}` };
}

/** Flux can use neither a public key nor one that asks for a passphrase, and reports it only once it runs. */
export const gitKey = rule(["flux", "fluxGitSshKey"], function* ({ flux, fluxGitSshKey: key }) {
  const fault = key === undefined || !flux.url?.startsWith("ssh://") ? undefined : privateKeyFault(key);
  if (fault !== undefined) yield { path: "fluxGitSshKey", message: `${fault}; ${hidden}` };
});

/** The format of a known_hosts file: sshd(8). */
export const gitHostKeys = rule(["flux"], function* ({ flux: { url, knownHosts } }) {
  if (knownHosts === undefined) return;
  const path = "flux.knownHosts";
  const lines = knownHosts.split("\n").filter((line) => line.trim() !== "" && !line.trim().startsWith("#"));
  const wrong = lines.find((line) => !knownHost.test(line.trim()));
  if (lines.length === 0 || wrong !== undefined) {
    const is = wrong?.startsWith("SHA256:") ? "is the fingerprint of a key" : "has a line that is no host key";
    const example = "github.com ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA...";
    return yield { path, message: `${is}: each line must be as 'ssh-keyscan <host>' prints it, such as '${example}'` };
  }
  if (url === undefined) return; // reported by itself
  if (!url.startsWith("ssh://")) {
    return yield { path, message: "is set, but would not be used: it is for a flux.url that begins with ssh://" };
  }
  const { hostname, port } = new URL(url);
  const wanted = port === "" || port === "22" ? hostname : `[${hostname}]:${port}`;
  const names = lines.flatMap((line) =>
    (
      line
        .trim()
        .replace(/^@\S+\s+/, "")
        .split(/\s+/)[0] ?? ""
    ).split(","),
  );
  if (!names.some((name) => name === wanted || name.startsWith("|") || /[*?]/.test(name))) {
    yield {
      path,
      message: `has no key of ${wanted}, the host in flux.url; it has those of ${[...new Set(names)].join(", ")}`,
    };
  }
});

const knownHost =
  /^(@(cert-authority|revoked)\s+)?\S+\s+(ssh-(ed25519|rsa|dss)|ecdsa-sha2-nistp(256|384|521)|sk-\S+@openssh\.com)\s+[A-Za-z0-9+/]{4,}={0,2}(\s+.*)?$/;

export const sopsKey = rule(["flux", "sopsAgeKey"], function* (config) {
  const { sopsAgeKey } = config;
  if (sopsAgeKey === undefined) return;
  if (!hasFlux(config)) yield { path: "sopsAgeKey", message: "is set, but Flux, which uses it, is off: set flux.url" };
  if (!/^AGE-SECRET-KEY-1[0-9A-Z]{58}$/m.test(sopsAgeKey)) {
    const message = /^age1[0-9a-z]{58}$/m.test(sopsAgeKey)
      ? "is the public key, which encrypts: set the private one, AGE-SECRET-KEY-1..."
      : "contains no line of the form AGE-SECRET-KEY-1..., as age-keygen writes it";
    yield { path: "sopsAgeKey", message: `${message}; ${hidden}` };
  }
});

/** An API key creates keys for nodes, and is not one itself. */
export const tailnetKey = rule(["tailscaleAuthKey"], function* ({ tailscaleAuthKey: key }) {
  if (key === undefined) return;
  const [, kind] = /^tskey-(api|client|scim|webhook)-/.exec(key) ?? [];
  if (kind !== undefined) {
    yield {
      path: "tailscaleAuthKey",
      message: `is a key of kind '${kind}': nodes need an auth key, tskey-auth-...; ${hidden}`,
    };
  } else if (/\s/.test(key.trim()) || isPublicKey(key)) {
    yield { path: "tailscaleAuthKey", message: `is not one auth key; ${hidden}` };
  }
});
