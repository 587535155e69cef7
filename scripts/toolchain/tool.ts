// How a tool that is made from Go modules is described.

/** A change to a file of a Go module before it is compiled. */
export interface Edit {
  readonly file: string;
  /** A regular expression, in multi-line mode. */
  readonly find: string;
  /** How often it must match: a module that has changed is noticed. */
  readonly times: number;
  readonly replace: string;
}

/** Files of a module, and where they are copied to. */
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

interface Made {
  readonly name: string;
  /** What it is for, in a few words. */
  readonly purpose: string;
  /** Folder below toolchain/. */
  readonly module: string;
  /** Where the sources are that we write ourselves: a folder of the checkout, in place of toolchain/<module>. */
  readonly folder?: string;
  /** The Go module whose version is the tool's; `npm:<package>` where the module has none but that of a commit. */
  readonly versionOf: string;
  /** Seconds on two idle cores with empty caches, in the order of this list: what a person is told to expect. */
  readonly seconds: number;
  /** GiB that its module and build caches take, in the order of this list. */
  readonly gigabytes: number;
}

/** A program that is compiled. */
export interface Program extends Made {
  /** The module file, where the folder has one for every version of something. Default: go.mod. */
  readonly moduleFile?: string;
  /** The main package. */
  readonly package: string;
  /** Names that it is started by; the first is the file, the others are links to it. */
  readonly commands: readonly [string, ...string[]];
  /** Variables to set to the tool's version, with or without the leading v. */
  readonly versionVariables?: Readonly<Record<string, "v1.2.3" | "1.2.3" | "1" | "2">>;
  /** Scripts that lie in a module and belong beside the program. */
  readonly scripts?: { readonly module: string; readonly files: readonly string[] };
}

/** Files that modules carry, copied as they are, beside those that the module's own folder has. */
export interface FileSet extends Made {
  readonly copied: readonly Copied[];
}

export type Tool = Program | FileSet;

export function isProgram(tool: Tool): tool is Program {
  return "package" in tool;
}

/** A resource plugin: what the engine asks for, and the tool that can stand in for it. */
export interface Plugin {
  readonly name: string;
  /** The npm package whose version the engine asks for. */
  readonly npm: string;
  readonly tool: string;
}
