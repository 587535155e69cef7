// Runs that are interrupted, with Talos 1.12: a foreign node, a call without an answer, an engine that is killed, Ctrl-C, lost secrets.
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { Chain } from "../lab/support/chain.ts";
import { Trouble } from "../lab/support/trouble.ts";

jest.setTimeout(300_000);

describe("an environment that is interrupted again and again (S1.6)", () => {
  let chain: Chain;
  let trouble: Trouble;
  beforeAll(async () => {
    chain = await Chain.of({ workers: 1, talos: "1.12.6", config: { apply: { parallel: "100%", firstDelay: 0.2 } } });
    trouble = new Trouble(chain);
  });
  afterAll(() => chain?.down());

  test("refuses a foreign node and never writes to it; once recreated, the machine is accepted (S0.2, S1.7(5))", async () => {
    await chain.lab.fault({ on: "pki", subject: "test-w-1", do: "other", times: 1 });
    const text = (await trouble.endsAt("gates:Preflight"))["test-preflight"];
    expect(text).toMatch(/^error: SLU-T109 The node belongs to another cluster: gate Preflight failed after \d+ s$/m);
    expect(text).toMatch(/^ +(?:seen: +)?w-1: \S+: its certificate is not of our PKI/m);
    expect(text).not.toMatch(/^ +(?:seen: +)?cp-1/m);
    expect(text).toMatch(/^ +what to do: Check the address\..* Sluice never overwrites a foreign node\.$/m);
    expect(trouble.changes).toEqual({});

    const { servers } = await chain.cloud.call("GET", "/servers?name=test-w-1");
    const [{ id, image }] = servers;
    await chain.cloud.call("POST", `/servers/${id}/actions/rebuild`, { image: image.id });
    await chain.lab.until({ subject: "test-w-1", what: "api", value: "maintenance" });
  });

  test("survives an engine that is killed right after the bootstrap call, and a call without an answer (S1.7(1), S1.7(8)) [C6]", async () => {
    await chain.lab.fault({ on: "talos", name: "ApplyConfiguration", subject: "test-w-1", do: "drop", times: 1 });
    const up = chain.begin("up");
    await chain.lab
      .until({ subject: "test-cp-1", what: "bootstrap", value: "asked" }, 120_000)
      .catch(async ({ message }: Error) => {
        throw new Error(`${message}\n${await up.stop("SIGKILL")}`);
      });
    expect(await up.stop("SIGKILL")).toMatch(/w-1 runs its config after 2 attempts/);

    const locked = await chain.run("up");
    expect(locked).not.toMatchObject({ code: 0 });
    expect(locked.stdout + locked.stderr).toContain("`pulumi cancel`");
    await chain.unlock();
  });

  test("ends a gate on Ctrl-C, which reports what it waited for and that the next run resumes (S1.7(8)) [C5]", async () => {
    const held = await chain.lab.fault({ on: "pod", name: "kube-system/cilium-*", subject: "w-1", do: "hold" });
    const up = chain.begin("up");
    await up.says(/CiliumReady test-cilium-ready .*w-1: pod .*waits for cilium to be ready on every node/, 120_000);
    const said = await up.stop("SIGINT");
    expect(said).toMatch(/Interrupted: gate CiliumReady, after \d+ s/);
    expect(said).toMatch(/^ +(?:seen: +)?w-1: pod cilium-\w+: /m);
    await chain.lab.endFault(held);
    expect(trouble.changes).toMatchObject({ "test-cp-1 bootstrap asked": 1 });
  });

  test("comes up in the end, with nothing done twice (S1.6)", async () => {
    await trouble.comesThrough();
    const once = { "test-cp-1 config applied": 1, "test-w-1 config applied": 1, "test-cp-1 bootstrap asked": 1 };
    expect(trouble.changes).toEqual(once);
  });

  test("overwrites no node after the secrets were regenerated, and continues with the old state (S1.7(4), S2.6)", async () => {
    const state = join(chain.lab.files, "state", ".pulumi", "stacks", "sluice", "test.json");
    copyFileSync(state, join(chain.lab.files, "before.json"));
    const secrets = (await chain.resources()).find(({ type }) => type === "talos:machine/secrets:Secrets");
    const before = trouble.changes;
    const anew = await chain.run("up", "--replace", secrets?.urn ?? "");
    expect(anew).not.toMatchObject({ code: 0 });
    for (const node of ["cp-1", "w-1"]) expect(anew.stdout).toMatch(new RegExp(`where: +${node}, foreign`));
    expect(anew.stdout).toContain("SLU-T109 The node belongs to another cluster");
    expect(anew.stdout).toContain("restore the Pulumi state that holds the old ones");
    expect(trouble.changes).toEqual(before);

    copyFileSync(join(chain.lab.files, "before.json"), state);
    const again = await chain.up();
    expect(again.steps).toEqual([]);
    expect(trouble.changes).toEqual(before);
  });
});
