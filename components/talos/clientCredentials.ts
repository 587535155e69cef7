import * as pulumi from "@pulumi/pulumi";
import { isRpcSecret, unwrapRpcSecret } from "@pulumi/pulumi/runtime/rpc.js";
import type * as talos from "@pulumiverse/talos";
import type { TalosCredentials } from "./client/talosClient.ts";

/** The client's certificate as the Talos client takes it. Secret. */
export function clientCredentials(
  clientConfiguration: talos.machine.Secrets["clientConfiguration"],
): pulumi.Output<TalosCredentials> {
  return pulumi.secret(
    clientConfiguration.apply((marked) => {
      const { caCertificate: ca, clientCertificate: crt, clientKey: key } = plain(marked);
      return { ca, crt, key };
    }),
  );
}

/** What the plugin marks as a secret and the options mark again arrives with one of the two marks still around it. */
function plain<T>(value: T): T {
  return isRpcSecret(value) ? plain(unwrapRpcSecret(value)) : value;
}
