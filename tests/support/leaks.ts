// Searches for secrets where none may be.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";

/** Secrets by names for failure messages: their values must not be in those either. */
export class Secrets {
  private readonly forms = new Map<string, string>();

  /** Searches for a value as it is, in base64, and decoded from base64. */
  add(name: string, value: string): void {
    this.forms.set(name, value);
    this.forms.set(`${name} in base64`, Buffer.from(value).toString("base64").replace(/=*$/, "").slice(0, -1));
    const decoded = Buffer.from(value, "base64").toString();
    // A PEM key: each full line of it is secret, however the lines are joined.
    const lines = decoded.split("\n").filter((line) => /^[\w+/=]{40,}$/.test(line));
    for (const [index, line] of lines.entries()) this.forms.set(`line ${index + 1} of ${name}`, line);
  }

  /** A value whose first part alone is sensitive: errors quote that much of it. */
  addMarker(name: string, value: string): void {
    this.add(name, value);
    this.forms.set(`the beginning of ${name}`, value.slice(0, 7));
  }

  /** Every leaf of a tree except the public ones. */
  addTree(name: string, tree: unknown): void {
    if (typeof tree === "string" && tree !== "") this.add(name, tree);
    if (typeof tree !== "object" || tree === null) return;
    for (const [key, value] of Object.entries(tree)) if (!isPublic(key)) this.addTree(`${name}.${key}`, value);
  }

  get names(): string[] {
    return [...this.forms.keys()];
  }

  /** The names of the secrets in a text. */
  foundIn(text: string): string[] {
    return [...this.forms].filter(([, value]) => text.includes(value)).map(([name]) => name);
  }
}

/** The files below a folder that contain a secret, each with the secrets' names. Compressed files are opened; symbolic links are not followed. */
export function leaksBelow(folder: string, secrets: Secrets): Record<string, string[]> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const found = files.map((file): [string, string[]] => {
    const path = join(file.parentPath, file.name);
    return [path, secrets.foundIn(readText(path))];
  });
  return Object.fromEntries(found.filter(([, names]) => names.length > 0));
}

function isPublic(key: string): boolean {
  return /cert(ificate)?$/i.test(key) || key === "id";
}

function readText(path: string): string {
  const bytes = readFileSync(path);
  const isCompressed = bytes[0] === 0x1f && bytes[1] === 0x8b;
  return (isCompressed ? gunzipSync(bytes) : bytes).toString("latin1");
}
