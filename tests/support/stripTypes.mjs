// Jest loads our TypeScript the way Node does: types are stripped, nothing is compiled.
import { createHash } from "node:crypto";
import { stripTypeScriptTypes } from "node:module";

export default {
  process: (source, path) => ({ code: stripTypeScriptTypes(source, { mode: "strip", sourceUrl: path }) }),
  getCacheKey: (source, path) => createHash("sha256").update(process.version).update(path).update(source).digest("hex"),
};
