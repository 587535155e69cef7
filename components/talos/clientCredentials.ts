import * as pulumi from "@pulumi/pulumi";
import type * as talos from "@pulumiverse/talos";
import type { TalosCredentials } from "./client/talosClient.ts";
import { withoutMarks } from "./withoutMarks.ts";

/** The client's certificate as the Talos client takes it. Secret. */
export function clientCredentials(
  clientConfiguration: talos.machine.Secrets["clientConfiguration"],
): pulumi.Output<TalosCredentials> {
  return pulumi.secret(
    clientConfiguration.apply((marked) => {
      const { caCertificate: ca, clientCertificate: crt, clientKey: key } = withoutMarks(marked);
      return { ca, crt, key };
    }),
  );
}
