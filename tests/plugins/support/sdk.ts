// The npm SDKs of the plugins: which of their classes and functions has which token.
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { join, sep } from "node:path";
import ts from "typescript";
import { plugins } from "../../../scripts/toolchain/tools.ts";

export const root = join(import.meta.dirname, "../../..");

/** A class or a function of an SDK that creates, reads or calls something of a plugin. */
export interface SdkMember {
  /** The plugin's name. */
  readonly plugin: string;
  readonly token: string;
  readonly declaration: ts.ClassDeclaration | ts.FunctionDeclaration;
}

/** A TypeScript program of the files with everything that they import. */
export function loadProgram(files: readonly string[]): ts.Program {
  const host = { ...ts.sys, onUnRecoverableConfigFileDiagnostic: () => undefined };
  const settings = ts.getParsedCommandLineOfConfigFile(join(root, "tsconfig.json"), {}, host);
  if (settings === undefined) throw new Error("tsconfig.json cannot be read");
  return ts.createProgram([...files], settings.options);
}

/** Classes that are written by hand: they build their token at run time, and the schema has them under this one. */
const handWritten: Readonly<Record<string, string>> = {
  "kubernetes/apiextensions/customResource.d.ts": "kubernetes:apiextensions.k8s.io:CustomResource",
};

const sdkFolders = plugins.map(({ name, npm }) => ({
  name,
  folder: realpathSync(join(root, "node_modules", npm)) + sep,
}));

/** The plugin whose SDK declares this; undefined for what is of no SDK. */
export function sdkName(declaration: ts.Node): string | undefined {
  return sdkOf(declaration)?.name;
}

function sdkOf(declaration: ts.Node): { readonly name: string; readonly folder: string } | undefined {
  const { fileName } = declaration.getSourceFile();
  return sdkFolders.find(({ folder }) => fileName.startsWith(folder));
}

/** The SDK's class or function that is declared there; undefined for what is of no SDK, and for helpers. */
export function sdkMember(declaration: ts.Node | undefined): SdkMember | undefined {
  const found = declaration && enclosing(declaration);
  const sdk = found && sdkOf(found);
  if (found === undefined || sdk === undefined) return undefined;
  const file = found.getSourceFile().fileName;
  const told = tokenOf(found, file) ?? handWritten[`${sdk.name}/${file.slice(sdk.folder.length)}`];
  if (told === undefined && ts.isFunctionDeclaration(found)) return undefined;
  if (told === undefined) throw new Error(`${file} has no token: name it in handWritten`);
  // A provider's class knows the plugin's bare name.
  const token = told === sdk.name ? `pulumi:providers:${told}` : told;
  return { plugin: sdk.name, token, declaration: found };
}

/** Where the class that a type makes, or the function that it is, is declared. */
export function declared(type: ts.Type): ts.Node | undefined {
  const [signature] = [...type.getConstructSignatures(), ...type.getCallSignatures()];
  return signature?.declaration;
}

function enclosing(node: ts.Node): ts.ClassDeclaration | ts.FunctionDeclaration | undefined {
  if (ts.isClassDeclaration(node) || ts.isFunctionDeclaration(node)) return node;
  return node.parent && enclosing(node.parent);
}

/** The token is not a type, so it is in the code beside the declarations. */
function tokenOf(declaration: ts.Node, file: string): string | undefined {
  const code = file.replace(/\.d\.ts$/, ".js");
  const pattern = ts.isClassDeclaration(declaration)
    ? /__pulumiType = '([^']+)'/
    : /runtime\.(?:invoke|invokeOutput|call)\("([^"]+)"/;
  return existsSync(code) ? pattern.exec(readFileSync(code, "utf8"))?.[1] : undefined;
}
