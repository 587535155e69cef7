import { unknownValue } from "@pulumi/pulumi/runtime/rpc.js";

/** Whether the engine passes a value that it does not know yet, as in a preview of a resource that does not exist yet. */
export function isUnknown(value: unknown): boolean {
  return value === unknownValue;
}

/** Whether any part of a value is unknown. */
export function hasUnknown(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return isUnknown(value);
  return Object.values(value).some(hasUnknown);
}
