// Puts an environment of a real platform on a lab: `npm run up -- home --lab`. Its file stays as it is; in the copy that the engine reads, what a lab does
// not have or cannot reach is replaced.
import { type Document, isMap } from "yaml";
import { allPlatforms } from "../../stacks/platforms/registry.ts";
import { labCharts } from "./labFolders.ts";

/** The lab's git server, and the version of its Flux chart. */
const gitServer = "http://192.0.2.30/";
const sample = { version: "2.9.5", url: `${gitServer}sample.git`, path: "./clusters/lab", interval: "10s" };

/** Namespaces of the providers' own keys. */
const accounts = new Set(allPlatforms.map(({ account }) => account?.provider));

/** Where a rehearsal keeps its backups, relative to the project. */
const rehearsedBackups = ".work/backups";

/** Keys for the environment's repository; the lab's sample has its own. */
const ofRepository = ["fluxGitPassword", "fluxGitSshKey", "sealedSecretsCertificate", "sealedSecretsKey"];

/** The text of the environment's file as it would be on a lab. Changes the document. */
export function placeOnLab(document: Document, lab: string): string {
  const settings = new Settings(document);
  settings.set("lab", { name: lab });
  // Nothing on a lab is worth keeping.
  settings.set("protect", false);
  settings.dropAccounts();
  // With them the credentials of a rehearsal would be those of the cluster itself.
  settings.drop("machineSecrets");
  useLabBackups(settings);
  const hasLabCharts = useLabCharts(settings);
  useLabRepository(settings);
  usePlatforms(settings, hasLabCharts);
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

  /** The value, if it is a map. */
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

  /** Configuration of providers belongs to an account; a lab has its own accounts. */
  dropAccounts(): void {
    const config = this.document.get("config");
    if (!isMap(config)) return;
    for (const key of config.items.map((item) => String(item.key))) {
      if (accounts.has(key.replace(/:.*$/, ""))) config.delete(key);
    }
  }
}

function isNodeLike(value: unknown): value is { toJS(document: Document): unknown } {
  return typeof value === "object" && value !== null && "toJS" in value;
}

/** Those of the cluster itself are neither restored nor replaced by a rehearsal's. */
function useLabBackups(settings: Settings): void {
  for (const key of ["restoreFrom", "backupS3AccessKey", "backupS3SecretKey"]) settings.drop(key);
  const { s3, folder, schedule: _, ...rest } = settings.map("backup") ?? {};
  if (s3 !== undefined || folder !== undefined) settings.set("backup", { ...rest, folder: rehearsedBackups });
}

/** A lab reaches no chart repository, and has one version of each chart. */
function useLabCharts(settings: Settings): boolean {
  if (settings.map("charts")?.path !== undefined) return false;
  settings.set("charts", { path: labCharts });
  for (const key of ["cilium", "csi", "sealedSecrets"]) {
    const { version: _, ...rest } = settings.map(key) ?? {};
    if (settings.map(key) !== undefined) settings.set(key, rest);
  }
  return true;
}

/** It reaches no Git repository but its own. */
function useLabRepository(settings: Settings): void {
  const flux = settings.map("flux");
  if (flux?.enabled === false || String(flux?.url ?? "").startsWith(gitServer)) return;
  settings.set("flux", sample);
  for (const key of ofRepository) settings.drop(key);
}

/** Each platform knows which of its settings a lab does not have or cannot reach. */
function usePlatforms(settings: Settings, hasLabCharts: boolean): void {
  for (const { name, lab } of allPlatforms) {
    const section = settings.map(name);
    if (section !== undefined && lab.adapt !== undefined) settings.set(name, lab.adapt(section, { hasLabCharts }));
  }
  const dropped = new Set(allPlatforms.flatMap(({ lab }) => lab.droppedNodeKeys ?? []));
  const nodes = settings.get("nodes");
  if (!Array.isArray(nodes)) return;
  settings.set(
    "nodes",
    nodes.map((node) => Object.fromEntries(Object.entries(node).filter(([key]) => !dropped.has(key)))),
  );
}
