/** A path as it is written in messages: `["nodes", 2, "labels", "a.b/c"]` is `nodes[2].labels["a.b/c"]`. */
export function yamlPath(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, key) => {
    if (typeof key === "number") return `${text}[${key}]`;
    const word = String(key);
    if (!/^[\w-]+$/.test(word)) return `${text}["${word}"]`;
    return text === "" ? word : `${text}.${word}`;
  }, "");
}
