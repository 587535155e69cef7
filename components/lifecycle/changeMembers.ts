// The provider texts in states of earlier versions load this path. docs/decisions/provider-paths.md
export * from "./members.provider.ts";
