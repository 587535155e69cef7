/** Variables whose values are secrets, or may contain one, such as a backend's address with a password. */
const secretName = /TOKEN|SECRET|PASSPHRASE|PASSWORD|ACCESS_KEY|BACKEND_URL/;

/** Shorter values are not masked: that would garble the text and hide nothing. */
const shortest = 4;

/**
 * Replaces the values of secret environment variables. The engine masks what the program marks as secret; this is for the error messages of tools. GitHub
 * does the same in its logs, but not in comments and issues.
 */
export function maskSecrets(text: string, environment: NodeJS.ProcessEnv = process.env): string {
  const values = Object.entries(environment)
    .filter(([name]) => secretName.test(name))
    .flatMap(([, value = ""]) => [value, passwordOf(value), ...value.split("\n")])
    .map((value) => value.trim())
    .filter((value) => value.length >= shortest);
  // The longest first, because one may be a part of another.
  return [...new Set(values)]
    .sort((a, b) => b.length - a.length)
    .reduce((masked, value) => masked.replaceAll(value, "[masked]"), text);
}

function passwordOf(value: string): string {
  return URL.canParse(value) ? decodeURIComponent(new URL(value).password) : "";
}
