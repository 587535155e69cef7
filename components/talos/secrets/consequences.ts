// What depends on each machine secret: why a running cluster must not get others.
import type { BundlePath } from "./secretsBundle.ts";

const effects: readonly { readonly path: RegExp; readonly effect: string }[] = [
  {
    path: /^certs\.os/,
    effect: "nodes would no longer accept Sluice: they would be foreign, and so would their replacements to them",
  },
  { path: /^certs\.etcd/, effect: "etcd members would refuse each other" },
  { path: /^certs\.k8s\./, effect: "every kubelet and every kubeconfig would be refused" },
  { path: /^certs\.k8saggregator/, effect: "the API server would refuse aggregated APIs, such as metrics" },
  { path: /^certs\.k8sserviceaccount/, effect: "every pod's token would be refused" },
  { path: /encryptionsecret$/, effect: "Secrets in etcd, and in each etcd snapshot, could not be decrypted" },
  { path: /bootstraptoken$|^trustdinfo/, effect: "new nodes could not join" },
  { path: /^cluster\./, effect: "nodes would no longer find each other by discovery" },
];

/** The effects of other values at these places on a cluster that runs with the old ones, the worst first. */
export function consequences(paths: readonly BundlePath[]): readonly string[] {
  return effects.filter(({ path }) => paths.some((one) => path.test(one))).map(({ effect }) => effect);
}
