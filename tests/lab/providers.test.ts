// The real Terraform providers talos and hcloud, as plugins of the real engine, against the lab: a plain program goes through its
// complete life there. This proves that the lab's cloud and nodes answer as the providers' authors expect.
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { Cloud } from "./support/cloud.ts";
import { Engine } from "./support/engine.ts";
import { Lab } from "./support/lab.ts";

jest.setTimeout(600_000);

const operator = "192.0.2.100/32";

describe("a plain program with only the providers", () => {
  let lab: Lab;
  let cloud: Cloud;
  let engine: Engine;
  beforeAll(async () => {
    lab = await Lab.up();
    cloud = new Cloud(lab);
    const program = join(import.meta.dirname, "programs", "plain");
    engine = await Engine.of(lab, program, { operator, talosVersion: "1.13.8" });
  });
  afterAll(() => lab?.down());

  test("creates a cluster with its nodes", async () => {
    const up = await engine.call("up");
    expect(up).toMatchObject({ code: 0 });
    const { kubeconfig } = await engine.outputs();
    const file = lab.write("kubeconfig", String(kubeconfig));
    await Promise.all(["cp-1", "w-1"].map((subject) => lab.until({ subject, what: "kubelet", value: "registered" })));
    const nodes = await lab.said("kubectl", ["--kubeconfig", file, "get", "nodes", "--output", "name"]);
    expect(nodes.trim().split("\n").sort()).toEqual(["node/cp-1", "node/w-1"]);
  });

  test("created what it declares, connected as it declares", async () => {
    const { servers } = await cloud.call("GET", "/servers?sort=name");
    expect(servers).toMatchObject([
      { name: "cp-1", status: "running", private_net: [{ ip: "10.0.1.11" }], placement_group: { name: "spread" } },
      { name: "w-1", status: "running", private_net: [{ ip: "10.0.1.21" }], placement_group: { name: "spread" } },
    ]);
    const { load_balancers: balancers } = await cloud.call("GET", "/load_balancers");
    const [target] = balancers[0].targets[0].targets;
    expect(target).toMatchObject({ health_status: [{ listen_port: 6443, status: "healthy" }] });
  });

  test("admits nobody but the operator", async () => {
    const { servers } = await cloud.call("GET", "/servers?name=w-1");
    const address = servers[0].public_net.ipv4.ip;
    const knock = (from: string) =>
      lab.exec("curl", ["--insecure", "--max-time", "2", "--interface", from, `https://${address}:50000`]);
    expect(await knock("192.0.2.200")).toMatchObject({ code: 28 });
    expect(await knock("192.0.2.100")).not.toMatchObject({ code: 28 });
  });

  test("has nothing to change in the next run", async () => {
    expect(await engine.call("preview", "--expect-no-changes")).toMatchObject({ code: 0 });
  });

  test("finds no drift in what it created", async () => {
    expect(await engine.call("refresh", "--expect-no-changes")).toMatchObject({ code: 0 });
  });

  test("finds on refresh what someone else changed", async () => {
    const { servers } = await cloud.call("GET", "/servers?name=w-1");
    await cloud.call("PUT", `/servers/${servers[0].id}`, { labels: { type: "worker", changed: "yes" } });
    const drifted = await engine.call("refresh", "--expect-no-changes");
    expect(drifted.code).not.toBe(0);
    expect(await engine.call("up")).toMatchObject({ code: 0 });
    const { servers: mended } = await cloud.call("GET", "/servers?name=w-1");
    expect(mended[0].labels).toEqual({ type: "worker" });
  });

  test("is destroyed to the last resource", async () => {
    expect(await engine.call("destroy")).toMatchObject({ code: 0 });
    const kinds = ["servers", "networks", "firewalls", "placement_groups", "load_balancers", "primary_ips"];
    for (const kind of kinds) expect(await cloud.call("GET", `/${kind}`)).toMatchObject({ [kind]: [] });
  });
});
