import { unknownValue } from "@pulumi/pulumi/runtime/rpc.js";

/** Whether the engine asks with a value that it does not know yet, as in a preview of what is still to be made. */
export function isUnknown(value: unknown): boolean {
  return value === unknownValue;
}
