import { describe, expect, test } from "@jest/globals";
import { stringify } from "yaml";
import { readKubeconfig } from "../../../components/kubernetes/kubeconfig.ts";

const base64 = (text: string) => Buffer.from(text).toString("base64");
const config = {
  "current-context": "admin@two",
  clusters: [
    { name: "one", cluster: { server: "https://192.0.2.1:6443" } },
    { name: "two", cluster: { server: "https://192.0.2.2:6443", "certificate-authority-data": base64("the ca") } },
  ],
  users: [
    { name: "admin", user: { "client-certificate-data": base64("the cert"), "client-key-data": base64("geheim") } },
  ],
  contexts: [{ name: "admin@two", context: { cluster: "two", user: "admin" } }],
};

describe("a kubeconfig", () => {
  test("is read for its current context", () => {
    const { server, ca, cert, key, token } = readKubeconfig(stringify(config));
    expect(server).toBe("https://192.0.2.2:6443");
    expect([ca, cert, key].map(String)).toEqual(["the ca", "the cert", "geheim"]);
    expect(token).toBeUndefined();
  });

  test.each([
    ["is no YAML", "users: [{token: geheim", "the kubeconfig cannot be read as YAML"],
    ["is only a text", "geheim", "the kubeconfig cannot be read as YAML"],
    ["is empty", "", "the kubeconfig cannot be read as YAML"],
    ["has another context", stringify({ ...config, "current-context": "geheim" }), "the kubeconfig names no cluster"],
    ["has no cluster", stringify({ ...config, clusters: [] }), "the kubeconfig names no cluster"],
  ])("that %s is an error that quotes nothing of it", (_, text, message) => {
    expect(() => readKubeconfig(text)).toThrow(new Error(message));
  });
});
