// What a program can name in an SDK, such as `machine.SecretsArgs`, exactly.
import { realpathSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { pluginNamed } from "../../../scripts/toolchain/tools.ts";
import { declared, root, sdkMember } from "./sdk.ts";

/** The file of declarations that a plugin's SDK is loaded from. */
export function sdkIndex(plugin: string): string {
  return realpathSync(join(root, "node_modules", pluginNamed(plugin).npm, "index.d.ts"));
}

/** The names and types of a class's or interface's properties, `talosVersion?` where it may be left out. */
export function typeText(program: ts.Program, plugin: string, name: string): Record<string, string> | undefined {
  const symbol = named(program, plugin, name);
  const type = symbol && program.getTypeChecker().getDeclaredTypeOfSymbol(symbol);
  const declaration = type?.symbol?.declarations?.find(
    (one) => ts.isInterfaceDeclaration(one) || ts.isClassDeclaration(one),
  );
  if (declaration === undefined) return undefined;
  const members = [...declaration.members].filter(
    (member) => ts.isPropertySignature(member) || ts.isPropertyDeclaration(member),
  );
  return Object.fromEntries(
    members.map((member) => [
      member.name.getText() + (member.questionToken === undefined ? "" : "?"),
      member.type?.getText() ?? "",
    ]),
  );
}

/** The token of a class or function. */
export function tokenNamed(program: ts.Program, plugin: string, name: string): string | undefined {
  const symbol = named(program, plugin, name);
  return symbol && sdkMember(declared(program.getTypeChecker().getTypeOfSymbol(symbol)))?.token;
}

function named(program: ts.Program, plugin: string, name: string): ts.Symbol | undefined {
  const checker = program.getTypeChecker();
  const file = program.getSourceFile(sdkIndex(plugin));
  let found = file && checker.getSymbolAtLocation(file);
  for (const part of name.split(".")) {
    const exported = found && checker.getExportsOfModule(found).find((one) => one.name === part);
    found = exported && exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported;
  }
  return found;
}
