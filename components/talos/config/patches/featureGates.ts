/** The `feature-gates` argument of a Kubernetes component: sorted, so that the order in the config file changes nothing. Empty without gates. */
export function featureGatesArgument(gates: Readonly<Record<string, boolean>>): { readonly "feature-gates"?: string } {
  const settings = Object.entries(gates).map(([gate, enabled]) => `${gate}=${enabled}`);
  return settings.length === 0 ? {} : { "feature-gates": settings.sort().join(",") };
}
