// How long the certificates in the talosconfig and kubeconfig are still valid.
import * as pulumi from "@pulumi/pulumi";
import type { TalosCredentials } from "../components/talos/client/talosClient.ts";
import { endOf, kubeconfigEnd } from "../components/talos/credentials/certificateLife.ts";
import { ClientCertificate } from "../components/talos/credentials/clientCertificate.ts";
import type { ClusterConfig } from "./schema/clusterConfig.ts";

/** Nothing depends on it, and it depends only on the certificates: it lets a refresh report that an expiry is near. */
export function watchCertificates(
  { clusterName, clientCertificateDays: renewDays }: ClusterConfig,
  {
    credentials,
    kubeconfig,
  }: { readonly credentials: pulumi.Output<TalosCredentials>; readonly kubeconfig: pulumi.Output<string> },
): void {
  const ends = {
    talosconfig: credentials.apply(({ crt }) => endOf(crt)),
    kubeconfig: kubeconfig.apply(kubeconfigEnd),
  };
  for (const [file, end] of Object.entries(ends)) {
    new ClientCertificate(`${clusterName}-${file}`, {
      file,
      ends: pulumi.unsecret<string | undefined>(end),
      renewDays,
    });
  }
}
