// What the program uses of the SDKs: which classes and functions, and which of their properties.
import { globSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { declared, root, type SdkMember, sdkMember, sdkName } from "./sdk.ts";

/** The files of the program. Some are loaded only by dynamic providers, so following imports is not enough. */
export const ownFiles = ["index.ts", ...globSync("{components,stacks}/**/*.ts", { cwd: root })].map((file) =>
  join(root, file),
);
/** What the program is planned to use. */
export const planned = join(import.meta.dirname, "planned.ts");

/** By token, the classes that are made, read or extended and the functions that are called in the files. */
export function usedMembers(program: ts.Program, files: readonly string[]): Map<string, SdkMember> {
  const checker = program.getTypeChecker();
  const used = new Map<string, SdkMember>();
  eachNode(program, files, (node) => {
    const isCall = ts.isNewExpression(node) || ts.isCallExpression(node);
    const isBase = ts.isExpressionWithTypeArguments(node) && ts.isHeritageClause(node.parent);
    if (!isCall && !isBase) return;
    const declaration = isCall
      ? checker.getResolvedSignature(node)?.declaration
      : declared(checker.getTypeAtLocation(node.expression));
    const member = sdkMember(declaration);
    if (member !== undefined) used.set(member.token, member);
  });
  return used;
}

/** By token, the classes and functions whose types (`typeof hcloud.Server`) are named in the file. */
export function namedMembers(program: ts.Program, file: string): Map<string, SdkMember> {
  const checker = program.getTypeChecker();
  const members = new Map<string, SdkMember>();
  eachNode(program, [file], (node) => {
    if (!ts.isTypeQueryNode(node)) return;
    const member = sdkMember(declared(checker.getTypeAtLocation(node)));
    if (member === undefined) throw new Error(`${node.getText()} is neither a resource nor a function of an SDK`);
    members.set(member.token, member);
  });
  return members;
}

/**
 * The properties of a plugin's SDK that the files pass or read, as `<type>.<property>`: in arguments and other object
 * literals, by access or destructuring, in types, and by name in a resource's options.
 */
export function usedProperties(program: ts.Program, files: readonly string[], plugin: string): Set<string> {
  const checker = program.getTypeChecker();
  const used = new Set<string>();
  const note = (property: ts.Symbol | undefined) => {
    for (const declaration of property?.declarations ?? []) {
      const isProperty = ts.isPropertySignature(declaration) || ts.isPropertyDeclaration(declaration);
      if (isProperty && sdkName(declaration) === plugin) used.add(`${typeName(declaration.parent)}.${property?.name}`);
    }
  };
  eachNode(program, files, (node) => {
    if (ts.isPropertyAccessExpression(node)) note(checker.getSymbolAtLocation(node.name));
    if (ts.isObjectLiteralExpression(node)) {
      for (const wanted of alternatives(checker.getContextualType(node))) {
        for (const { name } of checker.getTypeAtLocation(node).getProperties()) note(wanted.getProperty(name));
      }
    }
    if (ts.isObjectBindingPattern(node)) {
      const type = checker.getTypeAtLocation(node);
      for (const { propertyName, name } of node.elements) note(type.getProperty((propertyName ?? name).getText()));
    }
    if (ts.isIndexedAccessTypeNode(node) && ts.isLiteralTypeNode(node.indexType)) {
      const name = node.indexType.literal.getText().slice(1, -1);
      note(checker.getTypeAtLocation(node.objectType).getProperty(name));
    }
    if (ts.isNewExpression(node)) {
      const type = checker.getTypeAtLocation(node);
      for (const name of namesInOptions(node)) note(type.getProperty(name));
    }
  });
  return used;
}

/** `ignoreChanges: ["talosVersion"]` names a property too; of a path the first part counts. */
function namesInOptions({ arguments: given }: ts.NewExpression): string[] {
  const options = given?.[2];
  if (options === undefined || !ts.isObjectLiteralExpression(options)) return [];
  return options.properties
    .filter(ts.isPropertyAssignment)
    .map(({ initializer }) => initializer)
    .filter(ts.isArrayLiteralExpression)
    .flatMap(({ elements }) => elements.filter(ts.isStringLiteral))
    .map(({ text }) => /^\w*/.exec(text)?.[0] ?? "");
}

/** The members of `Input<T>` and other unions; empty if any type is expected. */
function alternatives(type: ts.Type | undefined): readonly ts.Type[] {
  if (type === undefined) return [];
  return type.isUnion() ? type.types : [type];
}

/** `machine.SecretsArgs`, `types.input.machine.MachineSecretsArgs`: how a program would name it. */
function typeName(declaration: ts.Node): string {
  if (!ts.isInterfaceDeclaration(declaration) && !ts.isClassDeclaration(declaration)) return "(unnamed)";
  const namespaces: string[] = [];
  for (let node: ts.Node = declaration; node.parent !== undefined; node = node.parent) {
    if (ts.isModuleDeclaration(node)) namespaces.unshift(node.name.text);
  }
  const [, folder = "", file = ""] = /([\w-]+)\/([\w-]+)\.d\.ts$/.exec(declaration.getSourceFile().fileName) ?? [];
  const module = folder === "types" ? ["types", file] : [folder];
  return [...module, ...namespaces, declaration.name?.text].join(".");
}

function eachNode(program: ts.Program, files: readonly string[], visit: (node: ts.Node) => void): void {
  const walk = (node: ts.Node): void => {
    visit(node);
    ts.forEachChild(node, walk);
  };
  for (const file of files) {
    const source = program.getSourceFile(file);
    if (source === undefined) throw new Error(`${file} is not loaded`);
    walk(source);
  }
}
