import { isIPv4 } from "node:net";
import { flux as fluxSettings } from "../../components/model/settings/platform.ts";
import { rule } from "./rule.ts";

/** Without a repository Flux reconciles nothing, and its gate never opens. */
export const gitSource = rule(["flux"], function* ({ flux }) {
  if (flux.url !== undefined || flux.enabled === false) return;
  const defaults: Readonly<Record<string, unknown>> = fluxSettings.parse({});
  const set = Object.entries(flux).find(
    ([key, value]) => !["enabled", "version"].includes(key) && value !== defaults[key],
  );
  if (flux.enabled === true) {
    yield {
      path: "flux.url",
      message: "is missing, but flux.enabled is true: set the repository that Flux reconciles",
    };
  } else if (set !== undefined) {
    yield {
      path: "flux.url",
      message: `is missing, but flux.${set[0]} is set: without a repository Flux is not installed; set it, or remove the others`,
    };
  }
});

/** Checked here and not in the schema, whose message would show the value. */
export const gitUrl = rule(["flux"], function* ({ flux: { url } }) {
  if (url === undefined) return;
  const path = "flux.url";
  if (/^https?:\/\/[^/]*@|^\w+:\/\/[^/@]*:[^/@]*@|[?&#]\w*(token|key|password|secret)\w*=/i.test(url)) {
    const message =
      "contains a user name, a password or a token: use flux.username and fluxGitPassword, or fluxGitSshKey, which are kept secret";
    return yield { path, message };
  }
  const { protocol, hostname, pathname, search, hash } = new URL(url);
  if (search !== "" || hash !== "") {
    yield { path, message: "has a part behind '?' or '#': it must be the address that 'git clone' takes" };
  }
  const [, repository, page] = /^(.*?)\/(?:-\/)?(tree|blob|src\/branch|commits?)\/./.exec(pathname) ?? [];
  if (repository !== undefined) {
    const clone = `${protocol}//${hostname}${repository}`;
    yield {
      path,
      message: `is the address of a page ('/${page}/'): did you mean ${clone}, with flux.branch and flux.path for the rest?`,
    };
  } else if (/(^|\.)(github|gitlab)\.com$|^codeberg\.org$/.test(hostname) && !/^\/[^/]+\/[^/]+/.test(pathname)) {
    yield {
      path,
      message: `names no repository: ${hostname} has them as ${protocol}//${hostname}/<owner>/<repository>`,
    };
  }
  if (hostname === "localhost" || (isIPv4(hostname) && hostname.startsWith("127."))) {
    yield { path, message: `${hostname} leads Flux to its own pod: set an address that the cluster reaches` };
  }
});
