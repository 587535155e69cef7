// The placeholders for machine secrets in a rendered config. The generator copies all of them except Talos' own CA, with which it signs a certificate, so
// that one must be real.

export interface Authority {
  readonly cert: string;
  readonly key: string;
}

/** Shown instead of the certificate of the CA that was generated for rendering. */
export const talosCertificate = base64("(certificate of Talos)");

export function placeholderSecrets(talosAuthority: Authority) {
  return {
    cluster: { id: base64("(cluster id)"), secret: base64("(cluster secret)") },
    secrets: {
      bootstrapToken: "(bootstrap token)",
      secretboxEncryptionSecret: base64("(secretbox encryption secret)"),
    },
    trustdinfo: { token: "(machine token)" },
    certs: {
      etcd: authority("etcd"),
      k8s: authority("Kubernetes"),
      k8sAggregator: authority("the aggregator"),
      k8sServiceaccount: { key: base64("(key of the service accounts)") },
      os: talosAuthority,
    },
  };
}

function authority(name: string): Authority {
  return { cert: base64(`(certificate of ${name})`), key: base64(`(key of ${name})`) };
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}
