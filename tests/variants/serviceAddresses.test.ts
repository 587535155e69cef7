// Addresses for Services without a cloud: requested, assigned, and removed again.
import { afterAll, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { Chain } from "../lab/support/chain.ts";

jest.setTimeout(300_000);

const addresses = { announce: "cilium", addresses: ["10.0.1.10-10.0.1.19"] };

describe("a Service of type LoadBalancer", () => {
  let chain: Chain;
  beforeAll(async () => {
    chain = await Chain.of({ platform: "existing", config: { flux: {}, sealedSecrets: { enabled: false } } });
    await chain.up();
    await chain.kubectl("create", "service", "loadbalancer", "web", "--tcp=80:80");
  });
  afterAll(() => chain?.down());

  const addressOf = (name: string) =>
    chain.kubectl("get", "service", name, "--output", "jsonpath={.status.loadBalancer.ingress[*].ip}");
  const answered = (name: string, reason: string) =>
    chain.kubectl(
      ...["wait", "service", name, "--timeout=60s"],
      `--for=jsonpath={.status.conditions[?(@.type=="cilium.io/IPAMRequestSatisfied")].reason}=${reason}`,
    );

  test("has no address if the environment configures none", async () => {
    await answered("web", "no_pool");
    expect(await addressOf("web")).toBe("");
  });

  test("gets an address of the node network once the environment lists some, and nothing else is touched (S4.6)", async () => {
    chain.configure({ services: addresses });
    const { steps } = await chain.up();
    expect(steps.filter(({ op }) => op === "create").map(({ name }) => name)).toEqual(
      expect.arrayContaining(["test-services-pool", "test-services-announcement"]),
    );
    expect(steps.filter(({ type }) => /Machine|AppliedMachineConfig|Bootstrap/.test(type))).toEqual([]);
    await answered("web", "satisfied");
    expect(await addressOf("web")).toBe("10.0.1.10");
    const settings = await chain.kubectl(
      "get",
      "configmap",
      "cilium-config",
      "--namespace",
      "kube-system",
      "-o",
      "json",
    );
    expect(JSON.parse(settings).data).toMatchObject({ "enable-l2-announcements": "true", "k8s-client-qps": "50" });
  });

  test("gets the address that it requests, if that is free", async () => {
    await chain.kubectl("create", "service", "loadbalancer", "db", "--tcp=5432:5432");
    await answered("db", "satisfied");
    await chain.kubectl("annotate", "service", "db", "lbipam.cilium.io/ips=10.0.1.15");
    const wanted = "--for=jsonpath={.status.loadBalancer.ingress[0].ip}=10.0.1.15";
    await chain.kubectl("wait", "service", "db", "--timeout=60s", wanted);
  });

  test("is left alone by a second up (S1.6), and by a refresh (U3)", async () => {
    expect((await chain.up()).steps).toEqual([]);
    expect(await chain.run("refresh")).toMatchObject({ code: 0, steps: [] });
    expect(await addressOf("web")).toBe("10.0.1.10");
  });

  test("loses its address when the environment no longer lists any", async () => {
    chain.configure({ services: {} });
    await chain.up();
    await answered("web", "no_pool");
    expect(await addressOf("web")).toBe("");
  });
});
