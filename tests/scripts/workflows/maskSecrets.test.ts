import { expect, test } from "@jest/globals";
import { maskSecrets } from "../../../scripts/workflows/maskSecrets.ts";

const environment = {
  PULUMI_CONFIG_PASSPHRASE: "correct horse",
  HCLOUD_TOKEN: "hunter2",
  PROXMOX_VE_API_TOKEN: "root@pam!sluice=11111111-2222",
  AWS_SECRET_ACCESS_KEY: "line one\nline two\n",
  PULUMI_BACKEND_URL: "postgres://sluice:p%40ss@db.example.org/state",
  HOME: "/home/somebody",
  PULUMI_ACCESS_TOKEN: "",
  SHORT_TOKEN: "a",
};

test("values of secret variables are masked wherever they occur, others are not", () => {
  const text = [
    "incorrect passphrase correct horse; token hunter2hunter2",
    "401 root@pam!sluice=11111111-2222",
    "line two",
    "cannot open postgres://sluice:p%40ss@db.example.org/state as sluice with p@ss",
    "a file in /home/somebody",
  ].join("\n");
  expect(maskSecrets(text, environment)).toBe(
    [
      "incorrect passphrase [masked]; token [masked][masked]",
      "401 [masked]",
      "[masked]",
      "cannot open [masked] as sluice with [masked]",
      "a file in /home/somebody",
    ].join("\n"),
  );
});

test("without secrets a text is not changed", () => {
  expect(maskSecrets("Previewing update (home):", {})).toBe("Previewing update (home):");
});
