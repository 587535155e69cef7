import { describe, expect, test } from "@jest/globals";
import { parse, parseDocument } from "yaml";
import {
  bundleText,
  differences,
  fromPlugin,
  isBundle,
  readBundle,
  toPlugin,
} from "../../../../components/talos/secrets/secretsBundle.ts";
import { secretsBundle, secretsText } from "../../../support/secretsFixture.ts";

/** The fixture with another value at a path; without it if that is undefined. */
function changed(path: string, value: unknown): string {
  const document = parseDocument(secretsText);
  if (value === undefined) document.deleteIn(path.split("."));
  else document.setIn(path.split("."), value);
  return document.toString();
}

describe("a secrets.yaml", () => {
  test("S7.1 is read and written without a change", () => {
    expect(parse(bundleText(secretsBundle))).toEqual(parse(secretsText));
    expect(readBundle(bundleText(secretsBundle))).toEqual(secretsBundle);
  });

  test("S7.1 may have its base64 wrapped", () => {
    const wrapped = secretsBundle.certs.os.key.replace(/(.{20})/g, "$1\n");
    expect(readBundle(changed("certs.os.key", wrapped))).toEqual(secretsBundle);
  });

  test("S7.1 may be one of a cluster that began before Talos 1.3, with AES-CBC", () => {
    const old = parseDocument(changed("secrets.secretboxencryptionsecret", undefined));
    old.setIn(["secrets", "aescbcencryptionsecret"], "c2VjcmV0");
    const read = readBundle(old.toString());
    expect(read).toMatchObject({ secrets: { aescbcencryptionsecret: "c2VjcmV0" } });
    expect(isBundle(read) && fromPlugin(toPlugin(read))).toEqual(read);
  });

  test.each([
    ["certs.etcd.key", undefined, "is missing"],
    ["cluster", undefined, "is missing"],
    ["secrets.bootstraptoken", "", "is missing"],
    ["secrets.secretboxencryptionsecret", undefined, "is missing, and so is secrets.aescbcencryptionsecret"],
    ["trustdinfo.token", 12, "must be text"],
    ["certs.extra.key", "x", "is a key that Sluice does not know, and would be lost"],
  ])("S7.1 is refused with %s = %s: %s", (path, value, message) => {
    const [fault] = readBundle(changed(path, value)) as readonly { path: string; message: string }[];
    expect(fault?.path.startsWith(path)).toBe(true);
    expect(fault?.message).toBe(message);
  });

  test.each([["a text"], ["- a\n- list"], ["{ broken"], [""]])(
    "S7.1 that is none is refused, and nothing of it is quoted: %j",
    (text) => {
      expect(readBundle(text)).toEqual([{ path: "", message: "is not a secrets.yaml of Talos: it is no map" }]);
    },
  );

  test("S7.1 has no unknown key quoted that could be a misplaced secret", () => {
    expect(JSON.stringify(readBundle(`${secretsText}"Zm9vYmFyYmF6+/==": 1\n`))).not.toContain("Zm9v");
  });

  test("S7.1 is what the Talos plugin has, in its own form and in that of its Terraform provider", () => {
    const plugin = toPlugin(secretsBundle);
    expect(plugin.certs.k8sServiceaccount).toEqual(secretsBundle.certs.k8sserviceaccount);
    expect(fromPlugin(plugin)).toEqual(secretsBundle);
    const { k8sAggregator, k8sServiceaccount, ...certs } = plugin.certs;
    const { bootstrapToken, secretboxEncryptionSecret } = plugin.secrets;
    const terraform = {
      cluster: plugin.cluster,
      trustdinfo: plugin.trustdinfo,
      certs: { ...certs, k8s_aggregator: k8sAggregator, k8s_serviceaccount: k8sServiceaccount },
      secrets: {
        aescbc_encryption_secret: null,
        bootstrap_token: bootstrapToken,
        secretbox_encryption_secret: secretboxEncryptionSecret,
      },
    };
    expect(fromPlugin(terraform)).toEqual(secretsBundle);
  });

  test("S7.1 is compared place by place", () => {
    const { certs, cluster } = secretsBundle;
    const other = { ...secretsBundle, cluster: { ...cluster, id: "x" }, certs: { ...certs, os: certs.etcd } };
    expect(differences(secretsBundle, secretsBundle)).toEqual([]);
    expect(differences(secretsBundle, other)).toEqual(["cluster.id", "certs.os.crt", "certs.os.key"]);
  });
});
