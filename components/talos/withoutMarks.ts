import { isRpcSecret, unwrapRpcSecret } from "@pulumi/pulumi/runtime/rpc.js";

/** What the plugin marks as a secret and the options mark again arrives with one of the two marks still around it. The output stays secret. */
export function withoutMarks<T>(value: T): T {
  return isRpcSecret(value) ? withoutMarks(unwrapRpcSecret(value)) : value;
}
