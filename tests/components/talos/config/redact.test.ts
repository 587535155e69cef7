import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { parse, parseAllDocuments, stringify } from "yaml";
import { mask, redact } from "../../../../components/talos/config/redact.ts";

const pem = (kind: string) => `-----BEGIN ${kind}-----\nMARKER\n-----END ${kind}-----\n`;
const base64 = (text: string) => Buffer.from(text).toString("base64");

/** Every field that RedactSecrets of Talos' machinery v1.13.8 masks, and every other that may hold a secret. */
const secrets = [
  "machine.token",
  "machine.ca.key",
  "machine.env.HTTPS_PROXY",
  "machine.files.0.content",
  "machine.network.interfaces.0.wireguard.privateKey",
  "machine.network.interfaces.0.vip.hcloud.apiToken",
  "machine.network.interfaces.0.vip.equinixMetal.apiToken",
  "machine.network.interfaces.0.vlans.0.vip.hcloud.apiToken",
  "machine.registries.config.ghcr.auth.password",
  "machine.registries.config.ghcr.auth.auth",
  "machine.registries.config.ghcr.auth.identityToken",
  "machine.registries.config.ghcr.tls.clientIdentity.key",
  "machine.systemDiskEncryption.state.keys.0.static.passphrase",
  "machine.systemDiskEncryption.ephemeral.keys.0.static.passphrase",
  "machine.kubelet.credentialProviderConfig.providers.0.env.0.value",
  "machine.pods.0.spec.containers.0.env.0.value",
  "cluster.secret",
  "cluster.token",
  "cluster.aescbcEncryptionSecret",
  "cluster.secretboxEncryptionSecret",
  "cluster.ca.key",
  "cluster.aggregatorCA.key",
  "cluster.serviceAccount.key",
  "cluster.etcd.ca.key",
  "cluster.apiServer.env.TOKEN",
  "cluster.apiServer.extraArgs.oidc-client-secret",
  "cluster.inlineManifests.0.contents",
  "cluster.extraManifestHeaders.Authorization",
  "uniqueToken of SideroLinkConfig",
  "privateKey of WireguardConfig",
  "peers.0.presharedKey of WireguardConfig",
  "apiToken of HCloudVIPConfig",
  "encryption.keys.0.static.passphrase of VolumeConfig",
  "clientIdentity.key of RegistryTLSConfig",
  "password of RegistryAuthConfig",
  "auth of RegistryAuthConfig",
  "identityToken of RegistryAuthConfig",
  "environment.0 of ExtensionServiceConfig",
  "configFiles.0.content of ExtensionServiceConfig",
  "variables.HTTPS_PROXY of EnvironmentConfig",
];

/** A config with just the value in it, at `machine.token` or at `apiToken of HCloudVIPConfig`. */
function planted(place: string, value: unknown): object {
  const [path = "", kind] = place.split(" of ");
  const root: object = kind === undefined ? {} : { apiVersion: "v1alpha1", kind };
  const keys = path.split(".");
  keys.reduce(
    (node: Record<string, unknown>, key, index) => {
      const next = keys[index + 1];
      node[key] ??= next === undefined ? value : /^\d+$/.test(next) ? [] : {};
      return node[key] as Record<string, unknown>;
    },
    root as Record<string, unknown>,
  );
  return root;
}

describe("a redacted machine config (S1.5, U3)", () => {
  test.each(secrets)("hides %s", (place) => {
    for (const secret of [
      "MARKER",
      'MARKER: "quoted" # and\\more',
      "several\nlines MARKER\n",
      base64(pem("PRIVATE KEY")),
    ]) {
      const config = stringify(planted(place, secret));
      expect(parse(redact(config))).toStrictEqual(planted(place, mask));
    }
  });

  test("hides the secret in every document of a config, and leaves the rest unchanged", () => {
    const config = `version: v1alpha1 # Indicates the schema
machine:
    type: controlplane
    token: abc.MARKER # of all machines
    ca:
        crt: LS0tQ0VSVElGSUNBVEU=
        key: MARKER
    certSANs: []
    files:
        - content: |
            MARKER
            MARKER
          permissions: 0o600
    nodeTaints: { key: "value:NoSchedule" }
cluster:
    id: not-a-secret
    secret: "MARKER"
    token:   'MARKER'
    apiServer: {env: {A: MARKER, B: ""}, image: registry.k8s.io/kube-apiserver:v1.35.4}
---
# The second document.
apiVersion: v1alpha1
kind: ExtensionServiceConfig
name: tailscale
environment:
    - TS_AUTHKEY=MARKER=
    - MARKER
`;
    expect(redact(config)).toBe(`version: v1alpha1 # Indicates the schema
machine:
    type: controlplane
    token: <redacted> # of all machines
    ca:
        crt: LS0tQ0VSVElGSUNBVEU=
        key: <redacted>
    certSANs: []
    files:
        - content: <redacted>
          permissions: 0o600
    nodeTaints: { key: "value:NoSchedule" }
cluster:
    id: not-a-secret
    secret: <redacted>
    token:   <redacted>
    apiServer: {env: {A: <redacted>, B: ""}, image: registry.k8s.io/kube-apiserver:v1.35.4}
---
# The second document.
apiVersion: v1alpha1
kind: ExtensionServiceConfig
name: tailscale
environment:
    - "TS_AUTHKEY=<redacted>"
    - <redacted>
`);
  });

  test.each([
    ["https://user:MARKER@registry.example/v2", `https://${mask}@registry.example/v2`],
    ["grpc://omni.example?jointoken=MARKER&grpc_tunnel=true", `grpc://omni.example?jointoken=${mask}&grpc_tunnel=true`],
    ["siderolink.api=https://x?a=1&jointoken=MARKER", `siderolink.api=https://x?a=1&jointoken=${mask}`],
    [pem("EC PRIVATE KEY"), mask],
    [base64(pem("ED25519 PRIVATE KEY")), mask],
  ])("hides a secret inside a text: %j", (text, hidden) => {
    expect(parse(redact(stringify({ any: { where: [text] } })))).toStrictEqual({ any: { where: [hidden] } });
  });

  test("shows what is not secret", () => {
    const config = stringify({
      machine: {
        ca: { crt: base64(pem("CERTIFICATE")) },
        kubelet: {
          extraConfig: { registerWithTaints: [{ key: "dedicated", value: "gpu" }], serializeImagePulls: false },
          nodeIP: { validSubnets: ["10.0.0.0/16"] },
        },
        logging: { destinations: [{ endpoint: "udp://127.0.0.1:6051", format: "json_lines" }] },
        registries: { config: { ghcr: { auth: { username: "reader" } } } },
      },
      cluster: { id: "id", network: { podSubnets: ["10.42.0.0/16"] }, token: "", secret: null },
    });
    expect(redact(config)).toBe(config);
  });

  test.each([
    ["broken YAML", "machine: {token: MARKER"],
    ["a text", "MARKER"],
    ["a list", "- MARKER"],
    ["anchors, by which a secret may stand at two places", "a: &a MARKER\nmachine:\n  token: *a\n"],
  ])("shows nothing of %s", (_title, config) => {
    expect(redact(config)).toBe(`${mask}\n`);
  });

  test("never shows a marker at a secret path, whatever surrounds it", () => {
    const planting = fc.tuple(
      fc.uniqueArray(fc.constantFrom(...secrets), { minLength: 1 }),
      fc.string().map((text) => `${text}MARKER${text}`),
      fc.record({
        indent: fc.integer({ min: 1, max: 8 }),
        lineWidth: fc.constantFrom(0, 20, 80),
        singleQuote: fc.boolean(),
      }),
      fc.constantFrom("BLOCK_LITERAL", "BLOCK_FOLDED", "QUOTE_SINGLE", "QUOTE_DOUBLE", "PLAIN"),
    );
    fc.assert(
      fc.property(planting, ([places, secret, style, type]) => {
        const config = places
          .map((place) =>
            stringify(planted(place, secret), { ...style, defaultStringType: type, defaultKeyType: "PLAIN" }),
          )
          .join("---\n");
        const shown = redact(config);
        expect(shown).not.toContain("MARKER");
        // The yaml library folds some quoted texts into a form that it cannot read itself; nothing is shown of such a config.
        const readable = parseAllDocuments(config).every(({ errors }) => errors.length === 0);
        expect(parseAllDocuments(shown)).toHaveLength(readable ? places.length : 1);
        expect(redact(shown)).toBe(shown);
      }),
      // The smallest known text that the library writes wrong.
      {
        examples: [
          [
            [
              ["machine.network.interfaces.0.vlans.0.vip.hcloud.apiToken", "machine.token"],
              '     "MARKER     "',
              { indent: 3, lineWidth: 20, singleQuote: false },
              "QUOTE_DOUBLE",
            ],
          ],
        ],
      },
    );
  });

  test("does not change when any text is redacted again", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.object().map((value) => stringify(value)),
        ),
        (config) => {
          expect(redact(redact(config))).toBe(redact(config));
        },
      ),
    );
  });
});
