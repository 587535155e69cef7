import * as pulumi from "@pulumi/pulumi";
import type * as talos from "@pulumiverse/talos";
import { withoutMarks } from "../../engine/withoutMarks.ts";
import type { TalosCredentials } from "../client/talosClient.ts";

/** The client certificate in the form of the Talos client. Secret. */
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
