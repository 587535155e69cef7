// An environment of a real platform, put on a lab: `npm run up -- home --lab`. Its file stays as it is; what a lab does not have, or
// what would lead out of it, is different in the copy that the engine reads.
import { isIPv4 } from "node:net";
import { type Document, isMap, parseDocument } from "yaml";
import { labOperator } from "../../stacks/labName.ts";
import { labCharts } from "./folder.ts";

/** The lab's git server, and the version of Flux that its chart counts as. */
const gitServer = "http://192.0.2.30/";
const sample = { version: "2.9.5", url: `${gitServer}sample.git`, path: "./clusters/lab", interval: "10s" };

/** Where Proxmox is whose endpoint is a name: a lab has no names. */
const proxmoxEndpoint = "https://192.0.2.40:8006";

/** What belongs to a repository, and not to the lab's sample, which brings its own. */
const ofRepository = ["fluxGitPassword", "fluxGitSshKey", "sealedSecretsCertificate", "sealedSecretsKey"];

/** The text of the environment's file as it would be on a lab. A file that cannot be read stays as it is: the engine tells why. */
export function placeOnLab(text: string, lab: string): string {
  const document = parseDocument(text, { merge: true });
  if (document.errors.length > 0 || !isMap(document.get("config"))) return text;
  const settings = new Settings(document);
  settings.set("lab", { name: lab });
  // Nothing on a lab is worth keeping.
  settings.set("protect", false);
  settings.dropAccounts();
  useLabCharts(settings);
  useLabRepository(settings);
  openPlatform(settings);
  return document.toString();
}

/** The keys of an environment in its file. */
class Settings {
  private readonly document: Document;

  constructor(document: Document) {
    this.document = document;
  }

  get(key: string): unknown {
    const value = this.document.getIn(["config", `sluice:${key}`]);
    return isNodeLike(value) ? value.toJS(this.document) : value;
  }

  /** The value where it is a map. */
  map(key: string): Record<string, unknown> | undefined {
    const value = this.get(key);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  }

  set(key: string, value: unknown): void {
    this.document.setIn(["config", `sluice:${key}`], this.document.createNode(value));
  }

  drop(key: string): void {
    this.document.deleteIn(["config", `sluice:${key}`]);
  }

  /** What providers are told beside the environment's keys is of an account; a lab has one of its own. */
  dropAccounts(): void {
    const config = this.document.get("config");
    if (!isMap(config)) return;
    for (const key of config.items.map((item) => String(item.key))) {
      if (/^(hcloud|proxmoxve):/.test(key)) config.delete(key);
    }
  }
}

function isNodeLike(value: unknown): value is { toJS(document: Document): unknown } {
  return typeof value === "object" && value !== null && "toJS" in value;
}

/** A lab reaches no repository of charts, and has one version of each. */
function useLabCharts(settings: Settings): void {
  if (settings.map("charts")?.path !== undefined) return;
  settings.set("charts", { path: labCharts });
  for (const key of ["cilium", "csi", "sealedSecrets"]) {
    const { version: _, ...rest } = settings.map(key) ?? {};
    if (settings.map(key) !== undefined) settings.set(key, rest);
  }
  const { cloudControllerManager, ...hetzner } = settings.map("hetzner") ?? {};
  if (typeof cloudControllerManager === "object" && cloudControllerManager !== null) {
    const { version: _, ...rest } = { version: undefined, ...cloudControllerManager };
    settings.set("hetzner", { ...hetzner, cloudControllerManager: rest });
  }
}

/** Nor any repository but its own. */
function useLabRepository(settings: Settings): void {
  const flux = settings.map("flux");
  if (flux?.enabled === false || String(flux?.url ?? "").startsWith(gitServer)) return;
  settings.set("flux", sample);
  for (const key of ofRepository) settings.drop(key);
}

/** Who runs it comes from the lab's own address, and the lab's Proxmox has a certificate that it made itself. */
function openPlatform(settings: Settings): void {
  const hetzner = settings.map("hetzner");
  if (hetzner !== undefined) {
    const allowed = Array.isArray(hetzner.allowedCidrs) ? hetzner.allowedCidrs : [];
    settings.set("hetzner", { ...hetzner, allowedCidrs: [...allowed, labOperator] });
  }
  const proxmox = settings.map("proxmox");
  if (proxmox !== undefined) {
    const { host } = /^https:\/\/(?<host>[^:/]+)/.exec(String(proxmox.endpoint))?.groups ?? {};
    const endpoint = isIPv4(host ?? "") ? proxmox.endpoint : proxmoxEndpoint;
    settings.set("proxmox", { ...proxmox, endpoint, insecure: true });
  }
  const nodes = settings.get("nodes");
  if (!Array.isArray(nodes)) return;
  // In a lab every machine is reached at its own address.
  settings.set(
    "nodes",
    nodes.map(({ reach: _, ...node }) => node),
  );
}
