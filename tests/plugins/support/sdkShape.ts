import ts from "typescript";
import type { SdkMember } from "./sdk.ts";
import { type Field, type Level, oneOf, propertiesOf, type Shape } from "./shape.ts";

/** What the SDK declares for a class or function. */
export function sdkShape(program: ts.Program, { token, declaration }: SdkMember): Shape {
  const reader = new TypeReader(program.getTypeChecker());
  return ts.isClassDeclaration(declaration)
    ? {
        token,
        inputs: propertiesOf(reader.constructorArgs(declaration)),
        outputs: propertiesOf(reader.fields(declaration)),
      }
    : { token, inputs: propertiesOf(reader.args(declaration)), outputs: propertiesOf(reader.result(declaration)) };
}

class TypeReader {
  private readonly checker: ts.TypeChecker;

  constructor(checker: ts.TypeChecker) {
    this.checker = checker;
  }

  /** The class's own fields are the outputs. */
  fields({ members }: ts.ClassDeclaration): Field[] {
    return members
      .filter(ts.isPropertyDeclaration)
      .filter((member) => !isHidden(member))
      .map((member) => this.field(member));
  }

  constructorArgs({ members }: ts.ClassDeclaration): Field[] {
    return this.parameter(members.find(ts.isConstructorDeclaration)?.parameters[1]);
  }

  args({ parameters: [first] }: ts.FunctionDeclaration): Field[] {
    return first?.name.getText() === "args" ? this.parameter(first) : [];
  }

  /** `Promise<Result>` or `Output<Result>`. */
  result({ type }: ts.FunctionDeclaration): Field[] {
    const [result] = type !== undefined && ts.isTypeReferenceNode(type) ? (type.typeArguments ?? []) : [];
    return result === undefined ? [] : this.objectFields(result);
  }

  private parameter(parameter: ts.ParameterDeclaration | undefined): Field[] {
    return parameter?.type === undefined ? [] : this.objectFields(parameter.type);
  }

  private objectFields(type: ts.TypeNode): Field[] {
    const level = this.level(type);
    return level.kind === "object" ? [...level.fields()] : [];
  }

  private field(member: ts.PropertyDeclaration | ts.PropertySignature): Field {
    if (member.type === undefined) throw new Error(`${member.getText()} has no type`);
    const required = member.questionToken === undefined && !maybeUndefined(member.type);
    return { name: member.name.getText().replaceAll('"', ""), required, level: this.level(member.type) };
  }

  private level(type: ts.TypeNode): Level {
    if (ts.isParenthesizedTypeNode(type)) return this.level(type.type);
    if (ts.isArrayTypeNode(type)) return { kind: "list", of: () => this.level(type.elementType) };
    if (ts.isUnionTypeNode(type)) {
      return oneOf(type.types.filter((one) => !isUndefined(one)).map((one) => this.level(one)));
    }
    if (ts.isTypeLiteralNode(type)) {
      const [index] = type.members.filter(ts.isIndexSignatureDeclaration);
      if (index !== undefined) return { kind: "map", of: () => this.level(index.type) };
      return this.object(type, type.members);
    }
    if (ts.isTypeReferenceNode(type)) return this.reference(type);
    if (ts.isLiteralTypeNode(type)) return { kind: "leaf", type: literalType(type.literal) };
    return { kind: "leaf", type: type.getText() };
  }

  private reference(type: ts.TypeReferenceNode): Level {
    const name = type.typeName.getText();
    const [of] = type.typeArguments ?? [];
    if (of !== undefined && /^(pulumi\.)?(Input|Output|Promise)$/.test(name)) return this.level(of);
    if (/^pulumi\.asset\.(Asset|Archive)$/.test(name)) return { kind: "leaf", type: name.slice(13).toLowerCase() };
    if (/^enums\./.test(name)) return { kind: "leaf", type: "string" };
    const symbol = this.checker.getSymbolAtLocation(type.typeName);
    const target = symbol && symbol.flags & ts.SymbolFlags.Alias ? this.checker.getAliasedSymbol(symbol) : symbol;
    const declaration = target?.declarations?.find(ts.isInterfaceDeclaration);
    if (declaration === undefined) return { kind: "leaf", type: name };
    return this.object(declaration, declaration.members);
  }

  private object(identity: ts.Node, members: ts.NodeArray<ts.TypeElement>): Level {
    return {
      kind: "object",
      identity,
      fields: () => members.filter(ts.isPropertySignature).map((member) => this.field(member)),
    };
  }
}

function isHidden({ modifiers }: ts.PropertyDeclaration): boolean {
  const hiding = [ts.SyntaxKind.StaticKeyword, ts.SyntaxKind.PrivateKeyword, ts.SyntaxKind.ProtectedKeyword];
  return (modifiers ?? []).some(({ kind }) => hiding.includes(kind));
}

function isUndefined(type: ts.TypeNode): boolean {
  return type.kind === ts.SyntaxKind.UndefinedKeyword;
}

/** `Output<string | undefined>` is an output that is not always present. */
function maybeUndefined(type: ts.TypeNode): boolean {
  if (ts.isTypeReferenceNode(type)) {
    const [of] = type.typeArguments ?? [];
    return of !== undefined && /^pulumi\.(Input|Output)$/.test(type.typeName.getText()) && maybeUndefined(of);
  }
  return ts.isUnionTypeNode(type) && type.types.some(isUndefined);
}

function literalType(literal: ts.LiteralTypeNode["literal"]): string {
  if (ts.isStringLiteral(literal)) return "string";
  return literal.kind === ts.SyntaxKind.TrueKeyword || literal.kind === ts.SyntaxKind.FalseKeyword
    ? "boolean"
    : "number";
}
