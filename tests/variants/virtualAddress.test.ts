// A virtual address brought up by kube-vip: while nothing answers there, while a foreign machine does, and when it is ours.
import { afterAll, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { parse } from "yaml";
import { certificates } from "../components/kubernetes/certificates.ts";
import { Chain, type Config } from "../lab/support/chain.ts";
import { vip } from "../lab/support/chainEnvironment.ts";

jest.setTimeout(300_000);

const network = {
  ...{ nodeCidr: "10.0.0.0/16", gateway: "10.0.0.1", nameservers: ["10.0.0.1"] },
  ...{ vip, vipBy: "kube-vip" },
};

/** Accepts connections for the Kubernetes API, with its own certificate. */
const foreignServer = `
const { readFileSync } = require("node:fs");
const [host, certificate] = process.argv.slice(1);
const server = require("node:tls").createServer(JSON.parse(readFileSync(certificate, "utf8")), (socket) => socket.on("error", () => undefined));
server.on("tlsClientError", () => undefined);
server.listen(6443, host, () => console.log("listens"));
`;

describe("a VIP by kube-vip (S4.4)", () => {
  let chain: Chain;
  beforeAll(async () => {
    chain = await Chain.of({ platform: "existing", config: { network } });
  });
  afterAll(() => chain?.down());

  /** An `up` that ends at the gate on the address, with nothing after it created; its output. */
  async function endsAtTheAddress(changes: Config): Promise<string> {
    chain.configure(changes);
    const { code, steps, stdout } = await chain.run("up");
    expect(code).not.toBe(0);
    expect(steps.filter(({ failed }) => failed).map(({ name }) => name)).toEqual(["test-virtual-address"]);
    const kept = (await chain.resources()).map(({ type }) => type);
    expect(kept.filter((type) => type.startsWith("sluice:platform:"))).toEqual(["sluice:platform:KubeVip"]);
    return stdout;
  }

  test("that never answers is named, with the nodes that should have brought it up [C15]", async () => {
    const change = { kubeVip: { interface: "eth9" }, timeouts: { vip: 15 } };
    const text = await endsAtTheAddress(change);
    expect(text).toMatch(
      /error: SLU-K106 The virtual address is not served by this cluster.*: gate VirtualAddress did not open within 15 s$/m,
    );
    expect(text).toMatch(
      /^ +(?:seen: +)?10\.0\.0\.20: .*; no control plane has the address: kube-vip has brought it up on none of cp-1/m,
    );
    expect(text).toMatch(/^ +what to do: /m);
  });

  test("at which another machine answers is named at once, with that machine's certificate [C15]", async () => {
    await chain.lab.said("ip", ["address", "add", `${vip}/32`, "dev", "lo"]);
    const certificate = chain.lab.write("foreign.json", JSON.stringify(certificates.stranger));
    const other = chain.lab.watch(process.execPath, ["-e", foreignServer, vip, certificate]);
    try {
      await other.says(/listens/);
      const text = await endsAtTheAddress({ timeouts: { vip: 180 } });
      expect(text).toMatch(
        /error: SLU-K107 Another machine answers at the virtual address.*: gate VirtualAddress failed after \d s$/m,
      );
      expect(text).toMatch(
        /^ +(?:seen: +)?10\.0\.0\.20: shows a foreign certificate: subject 'CN=stranger', issuer 'CN=foreign of a test'/m,
      );
    } finally {
      await other.stop();
      await chain.lab.said("ip", ["address", "delete", `${vip}/32`, "dev", "lo"]);
    }
  });

  test("is put into the kubeconfig when it answers as ours, and kube-vip is installed before Cilium", async () => {
    chain.configure({ kubeVip: {} });
    const { steps } = await chain.up();
    const { kubeconfig, gates } = await chain.outputs();
    expect(parse(kubeconfig).clusters[0].cluster.server).toBe(`https://${vip}:6443`);
    expect(gates.VirtualAddress.evidence).toEqual({ address: vip, controlPlanes: ["cp-1"] });
    const began = (type: string) => steps.find((step) => step.type.endsWith(type))?.began;
    const proven = steps.find((step) => step.type.endsWith(":VirtualAddress"))?.ended;
    expect(began("platform:Cilium")).toBeGreaterThan(proven ?? Number.NaN);
    const lease = ["--namespace", "kube-system", "get", "lease", "plndr-cp-lock"];
    expect(await chain.kubectl(...lease, "--output", "jsonpath={.spec.holderIdentity}")).toBe("cp-1");
  });

  test("is not checked again by an up that changes nothing (S1.6)", async () => {
    expect(await chain.run("up", "--expect-no-changes")).toMatchObject({ code: 0, steps: [] });
  });

  test("comes with kube-vip answering for a Service too, at an address of Cilium's pool, as long as the Service exists (S4.4)", async () => {
    chain.configure({ services: { announce: "kube-vip", addresses: ["10.0.1.10-10.0.1.19"] } });
    await chain.up();
    await chain.kubectl("create", "service", "loadbalancer", "web", "--tcp=80:80");
    await chain.lab.until({ subject: "cp-1", what: "kube-vip", value: "holds", detail: { address: "10.0.1.10" } });
    const shown = ["--nodes", "10.0.0.11", "--output", "jsonpath={.spec.address}"];
    const held = await chain.talosctl("get", "addresses", ...shown);
    expect(held.split("\n")).toEqual(expect.arrayContaining([`${vip}/32`, "10.0.1.10/32"]));
    await chain.kubectl("delete", "service", "web");
    await chain.lab.until({ what: "address gone", value: "10.0.1.10" });
  });

  test("is removed with the cluster, while the machine keeps running, which destroy reports", async () => {
    const { code, stdout, stderr } = await chain.run("destroy");
    expect(code).toBe(0);
    expect(stdout + stderr).toContain("cp-1: nothing is done to these machines, they keep running as they are");
    const anybody = await chain.lab.exec("talosctl", ["get", "disks", "--insecure", "--nodes", "10.0.0.11"]);
    expect(anybody).not.toMatchObject({ code: 0 });
  });
});
