import { isRpcSecret, unwrapRpcSecret } from "@pulumi/pulumi/runtime/rpc.js";

/** A value that both the plugin and the options mark as a secret still has one of the two marks around it. The output stays secret. */
export function withoutMarks<T>(value: T): T {
  return isRpcSecret(value) ? withoutMarks(unwrapRpcSecret(value)) : value;
}

/** The same for everything inside it. */
export function withoutAnyMarks(value: unknown): unknown {
  const bare: unknown = withoutMarks(value);
  if (Array.isArray(bare)) return bare.map(withoutAnyMarks);
  if (typeof bare !== "object" || bare === null) return bare;
  return Object.fromEntries(Object.entries(bare).map(([key, member]) => [key, withoutAnyMarks(member)]));
}
