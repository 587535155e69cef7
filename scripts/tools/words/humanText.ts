// The text in a file that people read: comments and strings of code, and all of any other text.
import ts from "typescript";

/**
 * The text with everything else blanked out, so that a match has the same position as in the file. Comment markers become spaces, because a sentence may span
 * several lines; other characters become NUL, because no sentence spans code.
 */
export function humanText(file: string, text: string): string {
  if (/\.(ts|mjs)$/.test(file)) return ofTypeScript(file, text);
  if (/\.(go|proto)$/.test(file)) return ofGo(text);
  if (/\.(ya?ml|hcl|sh)$/.test(file)) return text.replace(/^(\s*)#/gm, "$1 ");
  return text;
}

const literals = new Set([
  ts.SyntaxKind.StringLiteral,
  ts.SyntaxKind.NoSubstitutionTemplateLiteral,
  ts.SyntaxKind.TemplateHead,
  ts.SyntaxKind.TemplateMiddle,
  ts.SyntaxKind.TemplateTail,
  ts.SyntaxKind.RegularExpressionLiteral,
]);

function ofTypeScript(file: string, text: string): string {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const found: { readonly start: number; readonly end: number }[] = [];
  const visit = (node: ts.Node) => {
    if (isPath(node)) return;
    if (literals.has(node.kind)) found.push({ start: node.getStart(source), end: node.end });
    ts.forEachChild(node, visit);
  };
  visit(source);

  const parts: string[] = [];
  let end = 0;
  for (const literal of found.sort((one, other) => one.start - other.start)) {
    parts.push(betweenLiterals(text.slice(end, literal.start)), ofLiteral(text.slice(literal.start, literal.end)));
    end = literal.end;
  }
  return [...parts, betweenLiterals(text.slice(end))].join("");
}

/** The string of an import names a file and is not read by people. */
function isPath(node: ts.Node): boolean {
  return ts.isStringLiteral(node) && (ts.isImportDeclaration(node.parent) || ts.isExportDeclaration(node.parent));
}

/** Outside of literals a slash can only start a comment. */
function betweenLiterals(text: string): string {
  return text.replace(/\/\/.*|\/\*[\s\S]*?\*\/|"[^"\n]*"|\S/g, (token) =>
    token.startsWith('"') ? blank(token) : ofToken(token),
  );
}

function ofGo(text: string): string {
  return text.replace(/\/\/.*|\/\*[\s\S]*?\*\/|"(?:\\.|[^"\\\n])*"|`[^`]*`|'(?:\\.[^']*|[^'\\])'|\S/g, ofToken);
}

function ofToken(token: string): string {
  if (token.startsWith("//")) return `  ${token.slice(2)}`;
  if (token.startsWith("/*")) return `  ${token.slice(2, -2).replace(/^(\s*)\*/gm, "$1 ")}  `;
  if (token.startsWith("`")) return `\0${token.slice(1, -1)}\0`;
  if (token.startsWith('"')) return ofLiteral(token);
  return blank(token);
}

function blank(code: string): string {
  return code.replace(/\S/g, "\0");
}

/** Without its quotes; an escape is not part of a word. */
function ofLiteral(literal: string): string {
  const inner = literal.slice(1, -1).replace(/\\[\s\S]/g, "  ");
  return literal.length < 2 ? "\0" : `\0${inner}\0`;
}
