import { expect, test } from "@jest/globals";
import { parse } from "yaml";
import { hostKubeconfig } from "../../../scripts/lab/hostKubeconfig.ts";

test("a kubeconfig for this host has the lab's port, and verifies the cluster by one of its own names", () => {
  const text = `
apiVersion: v1
kind: Config
clusters:
  - name: dev
    cluster: { server: "https://198.51.100.29:6443", certificate-authority-data: Y2E= }
users:
  - name: admin@dev
    user: { client-certificate-data: Y3J0, client-key-data: a2V5 }
current-context: admin@dev
`;
  const before = parse(text);
  expect(parse(hostKubeconfig(text, "127.0.0.1:40123"))).toEqual({
    ...before,
    clusters: [
      {
        name: "dev",
        cluster: {
          server: "https://127.0.0.1:40123",
          "certificate-authority-data": "Y2E=",
          "tls-server-name": "kubernetes.default.svc",
        },
      },
    ],
  });
});
