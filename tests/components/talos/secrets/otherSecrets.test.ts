import { expect, test } from "@jest/globals";
import { otherSecrets } from "../../../../components/talos/secrets/otherSecrets.ts";
import { secretsBundle } from "../../../support/secretsFixture.ts";

const { certs, secrets } = secretsBundle;

test("S7.1 the same machine secrets are no others", () => {
  expect(otherSecrets(secretsBundle, structuredClone(secretsBundle))).toBeUndefined();
});

test("S7.1 other machine secrets are refused with the places, and with what would break, the worst first", () => {
  const other = {
    ...secretsBundle,
    secrets: { ...secrets, bootstraptoken: "others.0123456789abcdef", secretboxencryptionsecret: "x" },
    certs: { ...certs, etcd: certs.k8s },
  };
  expect(otherSecrets(secretsBundle, other)).toEqual({
    code: "SLU-T221",
    what: "the machine secrets that the state has",
    seen:
      "others, which differ in secrets.bootstraptoken, certs.etcd.crt, certs.etcd.key, secrets.secretboxencryptionsecret. With them etcd members would refuse " +
      "each other; Secrets in etcd, and in each etcd snapshot, could not be decrypted; new nodes could not join",
  });
});
