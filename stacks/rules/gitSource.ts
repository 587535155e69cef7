import { isIPv4 } from "node:net";
import { flux as fluxSettings } from "../../components/model/settings/platform.ts";
import { rule } from "./rule.ts";

/** Pages behind the address of a repository: of any server by their names, of these by the place, where more would be no repository. */
const pages = [
  /^(\/.*?)\/(?:-\/)?(tree|blob|src\/branch|commits?)\/./,
  /^(\/[^/]+\/.+?)\/(raw|pull|pulls|merge_requests)\/./,
  /^(\/.*?)\/-\/([^/]+)/,
];
const pagesOfTwoParts = /^(\/[^/]+\/[^/]+)\/([^/]+)/;
const hasTwoParts = /^(github\.com|codeberg\.org|bitbucket\.org)$/;

/** Hosts of pages and APIs, beside the host that has the repositories. */
const repositoryHosts: Readonly<Record<string, string>> = {
  "raw.githubusercontent.com": "github.com",
  "api.github.com": "github.com",
  "codeload.github.com": "github.com",
};

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

/** Only pods resolve names of the cluster's domain, and in it only those of its Services: a public domain would hide the repository. */
export const gitHost = rule(["flux", "network"], function* ({ flux: { url }, network: { dnsDomain } }) {
  if (url === undefined) return;
  const { hostname } = new URL(url);
  if (hostname.endsWith(`.${dnsDomain}`) && !hostname.endsWith(`.svc.${dnsDomain}`)) {
    yield {
      path: "flux.url",
      message: `${hostname} is in network.dnsDomain ${dnsDomain}, where pods find Services only: use another domain for the cluster`,
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
  const forms = hasTwoParts.test(hostname) ? [...pages, pagesOfTwoParts] : pages;
  const [, repository, page] = forms.map((form) => form.exec(pathname)).find((found) => found !== null) ?? [];
  const host = repositoryHosts[hostname];
  if (host !== undefined) {
    yield { path, message: `${hostname} has no repositories: they are at ${protocol}//${host}/<owner>/<repository>` };
  } else if (repository !== undefined) {
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
