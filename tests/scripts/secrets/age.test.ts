import { beforeAll, describe, expect, test } from "@jest/globals";
import { armor, Encrypter, generateIdentity, identityToRecipient } from "age-encryption";
import { decryptWith, encryptFor, isEncrypted } from "../../../scripts/secrets/age.ts";

const plain = "a: secret\n";
let own: string;
let other: string;
let recipients: readonly string[];

beforeAll(async () => {
  [own, other] = [await generateIdentity(), await generateIdentity()];
  recipients = await Promise.all([own, other].map((identity) => identityToRecipient(identity)));
});

const encrypted = async (...of: readonly number[]) =>
  Buffer.from(
    await encryptFor(
      of.map((index) => recipients[index] ?? ""),
      plain,
    ),
  );

describe("age", () => {
  test("S7.1 encrypts for several public keys, and each identity decrypts", async () => {
    const file = await encrypted(0, 1);
    expect(file.toString()).not.toContain("secret");
    expect(isEncrypted(file)).toBe(true);
    for (const identity of [own, other]) expect(await decryptWith(identity, file)).toBe(plain);
  });

  test("S7.1 decrypts the binary form too, with a file of identities as age-keygen writes it", async () => {
    const encrypter = new Encrypter();
    encrypter.addRecipient(recipients[0] ?? "");
    const file = Buffer.from(await encrypter.encrypt(plain));
    expect(isEncrypted(file)).toBe(true);
    expect(await decryptWith(`# created: today\n# public key: ${recipients[1]}\n${other}\n${own}\n`, file)).toBe(plain);
  });

  test("S7.1 does not treat plain text as encrypted", () => {
    expect(isEncrypted(Buffer.from("cluster: {}\n"))).toBe(false);
  });

  test("S7.1 refuses a public key that is mistyped", async () => {
    const mistyped = `${recipients[0]?.slice(0, -1)}q`;
    await expect(encryptFor([mistyped], plain)).rejects.toThrow(`${mistyped} is not an age public key`);
  });

  test.each([
    ["another's", async () => decryptWith(other, await encrypted(0)), "encrypted for other age public keys"],
    ["no", async () => decryptWith("hidden", await encrypted(0)), "has no line that begins with AGE-SECRET-KEY-"],
    ["a mistyped", async () => decryptWith(own.slice(0, -4), await encrypted(0)), "the age identity is mistyped"],
    [
      "the right identity, and a file that is cut off",
      async () => {
        const binary = armor.decode((await encrypted(0)).toString());
        return decryptWith(own, Buffer.from(binary.subarray(0, binary.length - 4)));
      },
      "cannot be decrypted: it is damaged, or its end is missing",
    ],
  ])("S7.1 refuses %s identity without quoting it", async (_, decrypt, message) => {
    const error: Error = await decrypt().then(
      () => new Error("decrypted"),
      (failure) => failure,
    );
    expect(error.message).toContain(message);
    expect([own, other, "hidden"].filter((secret) => error.message.includes(secret.slice(0, 20)))).toEqual([]);
  });
});
