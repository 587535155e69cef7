// Lines of a node's logs, as they may be shown.

/** What may be a secret in a line of a log, whoever wrote it. */
const secrets: readonly (readonly [RegExp, string])[] = [
  // Keys and certificates.
  [/-----BEGIN [A-Z ]+-----.*/g, "(masked)"],
  // "token=abc", "password": "abc", Authorization: Bearer abc
  [
    /((?:token|secret|password|passphrase|authorization|auth-?key|private-?key|credential)s?["']?\s*[=:]\s*)(?:bearer\s+)?["']?[^\s"',;]+["']?/gi,
    "$1(masked)",
  ],
  // Bootstrap and join tokens.
  [/\b[a-z0-9]{6}\.[a-z0-9]{16}\b/g, "(masked)"],
  // User and password of a URL.
  [/(\w+:\/\/)[^\s/@]+@/g, "$1(masked)@"],
  // Base64 of something long; not a path, and not the digest of an image.
  [/(?<![\w+/=:@.-])(?![0-9a-f]{40,}(?![\w+/=]))[A-Za-z0-9+/]{40,}={0,2}(?![\w+/=])/g, "(masked)"],
];

const mostLetters = 200;

/** One line without what may be secret, and not longer than a few lines of a terminal. */
export function maskedLine(line: string): string {
  const masked = secrets.reduce((text, [pattern, replacement]) => text.replace(pattern, replacement), line.trim());
  return masked.length <= mostLetters ? masked : `${masked.slice(0, mostLetters - 1)}…`;
}
