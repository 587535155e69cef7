import { expect, test } from "@jest/globals";
import { daysLeft } from "../../../components/talos/clientCertificate.ts";
import { certificates } from "../kubernetes/certificates.ts";

// Good until 2126-10-25 17:03:53 UTC.
const certificate = Buffer.from(certificates.server.cert).toString("base64");

test.each([
  ["2126-10-24T17:03:53Z", 1],
  ["2126-10-24T17:03:54Z", 0],
  ["2126-10-25T17:03:53Z", 0],
  ["2126-10-25T17:03:54Z", -1],
  ["2126-09-25T17:03:53Z", 30],
])("U1 a certificate has whole days left: at %s, %i", (now, days) => {
  expect(daysLeft(certificate, Date.parse(now))).toBe(days);
});
