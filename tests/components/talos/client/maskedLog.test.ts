import { expect, test } from "@jest/globals";
import { maskedLine } from "../../../../components/talos/client/maskedLog.ts";

const base64 = Buffer.from("a secret that is long enough to be one").toString("base64");

test.each([
  ['level=error msg="join failed" token=abcdef.0123456789abcdef', 'level=error msg="join failed" token=(masked)'],
  ['{"password": "geheim", "user": "me"}', '{"password": (masked), "user": "me"}'],
  ["Authorization: Bearer geheim.geheim", "Authorization: (masked)"],
  ["bootstrap with abcdef.0123456789abcdef", "bootstrap with (masked)"],
  ["pull https://me:geheim@registry.example.org/a failed", "pull https://(masked)@registry.example.org/a failed"],
  [`key ${base64}`, "key (masked)"],
  ["-----BEGIN EC PRIVATE KEY-----MHcCAQEE", "(masked)"],
])("in a log line %s is masked", (line, expected) => {
  expect(maskedLine(line)).toBe(expected);
});

test.each([
  "E1119 kubelet.go:1350 failed to mount /var/lib/data/a-very-long-path/that-goes-on-and-on/for-a-while: no such device",
  `image registry.example.org/etcd@sha256:${"0123456789abcdef".repeat(4)} was not found`,
  "dial tcp 10.0.0.11:2380: connect: connection refused",
])("a log line without a secret stays as it is: %s", (line) => {
  expect(maskedLine(`  ${line}\n`)).toBe(line);
});

test("a long log line is cut", () => {
  expect(maskedLine("word ".repeat(100))).toHaveLength(200);
});
