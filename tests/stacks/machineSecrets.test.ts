import { expect, test } from "@jest/globals";
import { parseClusterConfig } from "../../stacks/config/config.ts";
import { rawConfig } from "../support/rawConfig.ts";
import { secretsText } from "../support/secretsFixture.ts";

const parse = (machineSecrets: string) => () => parseClusterConfig({ ...rawConfig("home"), machineSecrets });

test("S7.1 declared machine secrets that fit together are accepted", () => {
  expect(parse(secretsText)()).toMatchObject({ machineSecrets: secretsText });
});

test.each([
  ["machineSecrets.trustdinfo.token: is missing", secretsText.replace(/token: trustd.*/, "token:")],
  [
    "machineSecrets.secrets.bootstraptoken: must be 6 and 16 lower-case letters or digits, with a dot between them",
    secretsText.replace("fixtur.", "FIXTUR."),
  ],
])("S7.1 declared machine secrets are refused with the message '%s'", (fault, text) => {
  expect(parse(text)).toThrow(`The configuration has 1 fault:\n  ${fault}`);
});
