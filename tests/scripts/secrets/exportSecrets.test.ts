// What an export refuses before it reads anything. tests/engine/machineSecrets.test.ts has what it writes.
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { exportSecrets } from "../../../scripts/secrets/exportSecrets.ts";

const { isTTY } = process.stdout;
beforeEach(() => {
  process.stdout.isTTY = true;
});
afterEach(() => {
  process.stdout.isTTY = isTTY;
});

describe("an export of machine secrets", () => {
  test("S7.1 is refused in plain text on a terminal", async () => {
    await expect(exportSecrets("home", { plain: true, recipients: [], file: "-" })).rejects.toThrow(
      "machine secrets in plain text are not printed on a terminal: name a file with --file <file>.",
    );
  });

  test("S7.1 is refused where nobody could decrypt it, and not written in plain text instead", async () => {
    await expect(exportSecrets("home", { plain: false, recipients: [], file: undefined })).rejects.toThrow(
      "home has no age public key to encrypt for: set ageRecipients in Pulumi.home.yaml",
    );
  });

  test("S7.1 is refused both encrypted and in plain text", async () => {
    await expect(exportSecrets("home", { plain: true, recipients: ["age1"], file: undefined })).rejects.toThrow(
      "--plain and --recipient contradict each other.",
    );
  });
});
