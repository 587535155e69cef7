import { describe, expect, test } from "@jest/globals";
import * as pulumi from "@pulumi/pulumi";
import { parse, stringify } from "yaml";
import { clientCredentials } from "../../../../components/talos/credentials/clientCredentials.ts";
import { Kubeconfig } from "../../../../components/talos/credentials/kubeconfig.ts";
import { withServer } from "../../../../components/talos/credentials/withServer.ts";
import { record, unwrap } from "../../../support/mocks.ts";
import { clientConfiguration, talosMocks } from "../../../support/talosMocks.ts";

const raw = {
  apiVersion: "v1",
  kind: "Config",
  clusters: [{ name: "home", cluster: { server: "https://10.0.0.20:6443", "certificate-authority-data": "the-ca" } }],
  users: [{ name: "admin@home", user: { "client-certificate-data": "the-cert", "client-key-data": "the-key" } }],
  contexts: [{ name: "admin@home", context: { cluster: "home", user: "admin@home" } }],
  "current-context": "admin@home",
};
const server = "https://api.example:6443";
const kubeconfigType = "talos:cluster/kubeconfig:Kubeconfig";
const mocks = {
  ...talosMocks,
  state: ({ type, inputs }: pulumi.runtime.MockResourceArgs) =>
    type === kubeconfigType ? { ...inputs, kubeconfigRaw: stringify(raw) } : inputs,
};
const make = (deadlineSeconds = 60) =>
  new Kubeconfig("home", {
    controlPlane: pulumi.output("198.51.100.1"),
    clientConfiguration,
    renewDays: 28,
    deadlineSeconds,
  });

class Proof extends pulumi.CustomResource {
  constructor() {
    super("test:gates:Gate", "gate", {});
  }
}

describe("the kubeconfig", () => {
  test("S4.4 has the public endpoint, and is otherwise as Talos made it", () => {
    expect(parse(withServer(stringify(raw), server))).toEqual({
      ...raw,
      clusters: [{ name: "home", cluster: { server, "certificate-authority-data": "the-ca" } }],
    });
  });

  test("is made by the official resource, within its timeout", async () => {
    const { resources: other } = await record(() => make(90), mocks);
    expect(other[1]?.inputs).toMatchObject({ timeouts: { create: "90s", update: "90s" } });
    const { resources, invokes } = await record(() => make(), mocks);
    expect(invokes).toEqual([]);
    expect(resources.map(({ type, name, parent }) => ({ type, name, parent }))).toEqual([
      { type: "sluice:talos:Kubeconfig", name: "home", parent: undefined },
      { type: kubeconfigType, name: "home", parent: "sluice:talos:Kubeconfig home" },
    ]);
    expect(resources[1]?.inputs).toEqual({
      node: "198.51.100.1",
      clientConfiguration,
      certificateRenewalDuration: "672h",
      timeouts: { create: "1m", update: "1m" },
    });
  });

  test("is a secret", async () => {
    const { result, outputs } = await record(make, mocks);
    const { secret, value = "" } = await unwrap(result.at(server));
    expect(secret).toBe(true);
    expect(parse(value).clusters[0].cluster.server).toBe(server);
    expect(outputs).toEqual({ "sluice:talos:Kubeconfig home": {} });
  });

  test("S4.4 is unknown before its gates are created", async () => {
    let made = false;
    const slow: typeof mocks = {
      ...mocks,
      state: (resource) => {
        made ||= resource.type === "test:gates:Gate";
        return mocks.state(resource);
      },
    };
    const program = () =>
      make()
        .at(server, [new Proof()])
        .apply(() => made);
    const { result } = await record(program, slow);
    expect((await unwrap(result)).value).toBe(true);
  });

  test("is unknown in the first preview, which calls nothing", async () => {
    const { result } = await record(make, { ...mocks, preview: true, state: ({ inputs }) => inputs });
    expect(await unwrap(result.at(server))).toMatchObject({ known: false });
  });
});

describe("the client credentials", () => {
  const expected = { ca: "the-ca", crt: clientConfiguration.clientCertificate, key: "the-key" };
  // What the engine returns if the plugin and the options both mark it.
  const marked = { "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", value: clientConfiguration };

  test.each([
    ["once", clientConfiguration],
    ["twice", marked],
  ])("are read from a client configuration that is marked as a secret %s", async (_times, value) => {
    const { result } = await record(() => clientCredentials(pulumi.output(value) as never), { ...talosMocks });
    expect(await unwrap(result)).toEqual({ known: true, secret: true, value: expected });
  });
});
