import { expect, test } from "@jest/globals";
import { stringify } from "yaml";
import { daysLeft, kubeconfigEnd } from "../../../../components/talos/credentials/certificateLife.ts";
import { certificates } from "../../kubernetes/certificates.ts";

// Good until 2126-10-25 17:03:53 UTC.
const certificate = Buffer.from(certificates.server.cert).toString("base64");

test.each([
  ["2126-10-24T17:03:53Z", 1],
  ["2126-10-24T17:03:54Z", 0],
  ["2126-10-25T17:03:53Z", 0],
  ["2126-10-25T17:03:54Z", -1],
  ["2126-09-25T17:03:53Z", 30],
])("U1 the remaining days of a certificate are counted in full: at %s, %i", (now, days) => {
  expect(daysLeft(certificate, Date.parse(now))).toBe(days);
});

test("U3 a kubeconfig expires with the certificate in it, if there is one", () => {
  const of = (user: object) => kubeconfigEnd(stringify({ users: [{ name: "admin", user }] }));
  expect(of({ "client-certificate-data": certificate })).toBe("2126-10-25T17:03:53.000Z");
  expect(of({ token: "abc" })).toBeUndefined();
});
