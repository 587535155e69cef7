// The description of a tool that is built from Go modules.

/** An edit of a file of a Go module before it is compiled. */
export interface Edit {
  readonly file: string;
  /** A regular expression, in multi-line mode. */
  readonly find: string;
  /** How often it must match, so that a change in the module is noticed. */
  readonly times: number;
  readonly replace: string;
}

/** Files of a module, and their destinations. */
export interface Copied {
  readonly module: string;
  readonly from: string;
  /** Names or patterns. */
  readonly files: readonly string[];
  readonly to: string;
}

/** What a folder below toolchain/ needs before `go build`. */
export interface ModulePreparation {
  /** Modules that go.mod replaces by `./patched/<folder>`: copied from the module cache and edited. */
  readonly patched?: readonly { readonly module: string; readonly folder: string; readonly edits: readonly Edit[] }[];
  /** Files that a main package embeds. */
  readonly copied?: readonly Copied[];
}

interface Common {
  readonly name: string;
  /** Its purpose, in a few words. */
  readonly purpose: string;
  /** Folder below toolchain/. */
  readonly module: string;
  /** The folder of our own sources in the checkout, instead of toolchain/<module>. */
  readonly folder?: string;
  /** The Go module whose version is the tool's; `npm:<package>` if the module's only version is a commit. */
  readonly versionOf: string;
  /**
   * Seconds by which it makes the build longer on two idle cores with empty caches, in the order of the list: its modules arrive while tools before it
   * compile, and it is linked while the next compiles. The sum is the time that is announced.
   */
  readonly seconds: number;
  /** GiB of its module and build caches, in the order of this list. */
  readonly gigabytes: number;
}

/** A program that is compiled. */
export interface Program extends Common {
  /** The module file, if the folder has several. Default: go.mod. */
  readonly moduleFile?: string;
  /** The main package. */
  readonly package: string;
  /** The names of its programs; the first is the file, the others are links to it. */
  readonly commands: readonly [string, ...string[]];
  /** Variables to set to the tool's version, with or without the leading v. */
  readonly versionVariables?: Readonly<Record<string, "v1.2.3" | "1.2.3" | "1" | "2">>;
  /** Scripts from a module that are needed next to the program. */
  readonly scripts?: { readonly module: string; readonly files: readonly string[] };
}

/** Files from modules, copied unchanged, next to those of the module's own folder. */
export interface FileSet extends Common {
  readonly copied: readonly Copied[];
}

export type Tool = Program | FileSet;

export function isProgram(tool: Tool): tool is Program {
  return "package" in tool;
}

/** A resource plugin: the version that the engine requests, and the tool that can replace it. */
export interface Plugin {
  readonly name: string;
  /** The npm package whose version the engine requests. */
  readonly npm: string;
  readonly tool: string;
}
