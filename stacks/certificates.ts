// How long the certificates in what is handed out are good for.
import * as pulumi from "@pulumi/pulumi";
import { endOf, kubeconfigEnd } from "../components/talos/certificateLife.ts";
import type { TalosCredentials } from "../components/talos/client/talosClient.ts";
import { ClientCertificate } from "../components/talos/clientCertificate.ts";
import type { ClusterConfig } from "./schema.ts";

/** Nothing waits for it, and it waits for nobody but those who make the certificates: it is for refreshes, which tell that an end is near. */
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
