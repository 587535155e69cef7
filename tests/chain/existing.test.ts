// Machines that are already there, from maintenance to GitOps, with an address that the control planes share; and what becomes of them afterwards.
import { afterAll, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { parse } from "yaml";
import { Chain, type Run } from "../lab/support/chain.ts";
import { vip } from "../lab/support/chainEnvironment.ts";
import { refused } from "../lab/support/drifts.ts";
import { holdsOnEveryPlatform } from "../lab/support/everyPlatform.ts";
import { blockCommands } from "../support/docs.ts";

jest.setTimeout(300_000);

describe("machines that are already there", () => {
  let chain: Chain;
  let up: Run;
  /** What they say of themselves in maintenance, to the commands of docs/existing.md. */
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

  test("tell in maintenance by what each is known, as docs/existing.md asks them", async () => {
    const { lab } = JSON.parse((await chain.lab.call("status")).stdout);
    const machine = lab.machines.find(({ name }: { name: string }) => name === chain.server("cp-1"));
    expect(told).toContain(machine.macs[0]);
    expect(told).toContain(machine.uuid);
  });

  test("have nothing made for them but what is in them (S3.1, S4.7)", async () => {
    const machines = up.steps.map(({ type }) => type).filter((type) => type.includes("machines:"));
    expect(machines.toSorted()).toEqual([
      "pulumi-nodejs:dynamic/machines:MachineChanges",
      "pulumi-nodejs:dynamic/machines:Release",
      "sluice:machines:ExistingMachines",
    ]);
  });

  test("are handed out with the VIP, which is up when the kubeconfig is there and not before (S4.4)", async () => {
    const { kubeconfig, endpoint, gates } = await chain.outputs();
    const [{ cluster }] = parse(kubeconfig).clusters;
    expect([endpoint, cluster.server]).toEqual([`https://${vip}:6443`, `https://${vip}:6443`]);
    expect(gates.VirtualAddress.evidence).toEqual({ address: vip, controlPlanes: ["cp-1"] });
    const step = (type: string) => up.steps.find((one) => one.type.endsWith(type));
    const proven = step(":VirtualAddress")?.ended ?? Number.NaN;
    expect(proven).toBeGreaterThan(step(":Bootstrap")?.ended ?? Number.NaN);
    expect(step(":KubernetesApi")?.began).toBeGreaterThan(proven);
  });

  test("are reached by Talos' clients at their own addresses, never at the VIP (S4.4)", async () => {
    const { talosconfig } = await chain.outputs();
    const [{ endpoints }] = Object.values<{ endpoints: string[] }>(parse(talosconfig).contexts) as [
      { endpoints: string[] },
    ];
    expect(endpoints).toEqual(["10.0.0.11"]);
  });

  holdsOnEveryPlatform({ chain: () => chain, added, remake });

  /** By what a machine is known stands in the list, so another one behind the address is refused until it stands there. */
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

  test("are in maintenance again when the cluster is destroyed, where the environment says so", async () => {
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
