// Existing machines, from maintenance to GitOps, with a virtual address; and what happens to them on destroy.
import { afterAll, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { parse } from "yaml";
import { Chain, type Run } from "../lab/support/chain.ts";
import { vip } from "../lab/support/chainEnvironment.ts";
import { refused } from "../lab/support/drifts.ts";
import { holdsOnEveryPlatform } from "../lab/support/everyPlatform.ts";
import { blockCommands } from "../support/docs.ts";

jest.setTimeout(300_000);

describe("existing machines", () => {
  let chain: Chain;
  let up: Run;
  /** What they report in maintenance, to the commands of docs/existing.md. */
  let told: string;
  const added = { name: "w-2", role: "worker", address: "10.0.0.22" };
  beforeAll(async () => {
    chain = await Chain.of({ platform: "existing", workers: 1, vip: true, spares: [added] });
    const asked = blockCommands("docs/existing.md").filter((line) => line.startsWith("talosctl get "));
    await chain.lab.until({ subject: chain.server("cp-1"), what: "stage", value: "maintenance" });
    const answers = asked.map((line) => chain.lab.said("sh", ["-c", line]));
    told = (await Promise.all(answers)).join("");
    up = await chain.up();
  });
  afterAll(() => chain?.down());

  test("report their MAC and UUID in maintenance, to the commands of docs/existing.md", async () => {
    const { lab } = JSON.parse((await chain.lab.call("status")).stdout);
    const machine = lab.machines.find(({ name }: { name: string }) => name === chain.server("cp-1"));
    expect(told).toContain(machine.macs[0]);
    expect(told).toContain(machine.uuid);
  });

  test("become a cluster without any created machine (S3.1, S4.7) [C30]", async () => {
    const machines = up.steps.map(({ type }) => type).filter((type) => type.includes("machines:"));
    expect(machines.toSorted()).toEqual([
      "pulumi-nodejs:dynamic/machines:QuorumGuard",
      "pulumi-nodejs:dynamic/machines:Release",
      "sluice:machines:ExistingMachines",
    ]);
  });

  test("have the VIP in their kubeconfig, which exists only after the VIP is up (S4.4) [C15]", async () => {
    const { kubeconfig, endpoint, gates } = await chain.outputs();
    const [{ cluster }] = parse(kubeconfig).clusters;
    expect([endpoint, cluster.server]).toEqual([`https://${vip}:6443`, `https://${vip}:6443`]);
    expect(gates.VirtualAddress.evidence).toEqual({ address: vip, controlPlanes: ["cp-1"] });
    const step = (type: string) => up.steps.find((one) => one.type.endsWith(type));
    const proven = step(":VirtualAddress")?.ended ?? Number.NaN;
    expect(proven).toBeGreaterThan(step(":Bootstrap")?.ended ?? Number.NaN);
    expect(step(":KubernetesApi")?.began).toBeGreaterThan(proven);
  });

  test("are reached by Talos' clients at their own addresses, never at the VIP (S4.4) [C15]", async () => {
    const { talosconfig } = await chain.outputs();
    const [{ endpoints }] = Object.values<{ endpoints: string[] }>(parse(talosconfig).contexts) as [
      { endpoints: string[] },
    ];
    expect(endpoints).toEqual(["10.0.0.11"]);
  });

  holdsOnEveryPlatform({ chain: () => chain, added, remake });

  /** The list has each machine's identity, so another machine at the address is refused until the list names it. */
  async function remake(): Promise<void> {
    const before = chain.lab.facts.all.at(-1);
    const { stdout, stderr } = await chain.lab.call("machine", "replace", chain.server("w-2"));
    expect(stderr).toBe("");
    await chain.lab.until({ subject: chain.server("w-2"), what: "stage", value: "maintenance", after: before });
    const { code } = await chain.run("refresh");
    expect(code).toBe(0);
    const { mac, uuid } = JSON.parse(stdout);
    await refused(chain, "Preflight test-preflight", /SLU-T302/, new RegExp(`w-2: .*${uuid}`));
    const others = chain.listed.filter(({ name }) => name !== "w-2");
    chain.configure({ nodes: others });
    chain.addNode({ ...added, mac, uuid } as typeof added);
  }

  test("are in maintenance again when the cluster is destroyed with resetOnDestroy [C11]", async () => {
    chain.configure({ existing: { resetOnDestroy: true } });
    const { steps } = await chain.up();
    expect(steps.map(({ op, type }) => `${op} ${type}`)).toEqual(["update pulumi-nodejs:dynamic/machines:Release"]);
    expect(await chain.run("destroy")).toMatchObject({ code: 0 });
    expect(await chain.resources()).toEqual([]);
    for (const address of ["10.0.0.11", "10.0.0.21"]) {
      expect(await chain.lab.said("talosctl", ["get", "disks", "--insecure", "--nodes", address])).toContain("sda");
    }
  });
});
