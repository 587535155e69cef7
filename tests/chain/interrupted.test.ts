// What a person meets who is interrupted half way, with Talos 1.12: strangers, a call without an answer, an engine that is killed, Ctrl-C, secrets that are lost.
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

  test("a foreign node is refused and never written to; made anew it is taken (S0.2, S1.7-5)", async () => {
    await chain.lab.fault({ on: "pki", subject: "test-w-1", do: "other", times: 1 });
    const text = (await trouble.endsAt("gates:Preflight"))["test-preflight"];
    expect(text).toMatch(/^error: Preflight cannot open; .*\(SLU-T109: A node belongs to another cluster\)$/m);
    expect(text).toMatch(/^ +w-1: \S+: its certificate is not of our PKI/m);
    expect(text).not.toMatch(/^ +cp-1/m);
    expect(text).toMatch(/^ +What to do: Check the address\..* it is never overwritten\.$/m);
    expect(trouble.changes).toEqual({});

    const { servers } = await chain.cloud.call("GET", "/servers?name=test-w-1");
    const [{ id, image }] = servers;
    await chain.cloud.call("POST", `/servers/${id}/actions/rebuild`, { image: image.id });
    await chain.lab.until({ subject: "test-w-1", what: "api", value: "maintenance" });
  });

  test("the engine is killed as soon as it has asked for the bootstrap; a call without an answer was no reason to give up (S1.7-1, S1.7-8)", async () => {
    await chain.lab.fault({ on: "talos", name: "ApplyConfiguration", subject: "test-w-1", do: "drop", times: 1 });
    const up = chain.begin("up");
    await chain.lab
      .until({ subject: "test-cp-1", what: "bootstrap", value: "asked" }, 120_000)
      .catch(async ({ message }: Error) => {
        throw new Error(`${message}\n${await up.stop("SIGKILL")}`);
      });
    expect(await up.stop("SIGKILL")).toMatch(/w-1 runs its config after 2 tries/);

    const locked = await chain.run("up");
    expect(locked).not.toMatchObject({ code: 0 });
    expect(locked.stdout + locked.stderr).toContain("`pulumi cancel`");
    await chain.unlock();
  });

  test("Ctrl-C at a gate: it says where it was, and that the next run goes on there (S1.7-8)", async () => {
    const held = await chain.lab.fault({ on: "pod", name: "kube-system/cilium-*", subject: "w-1", do: "hold" });
    const up = chain.begin("up");
    await up.says(/CiliumReady test-cilium-ready .*w-1: pod .*waits for cilium to be ready on every node/, 120_000);
    const said = await up.stop("SIGINT");
    expect(said).toMatch(/CiliumReady was interrupted after \d+ s/);
    expect(said).toMatch(/^ +w-1: pod cilium-\w+: /m);
    await chain.lab.endFault(held);
    expect(trouble.changes).toMatchObject({ "test-cp-1 bootstrap asked": 1 });
  });

  test("comes through then, and nothing was done twice (S1.6)", async () => {
    await trouble.comesThrough();
    const once = { "test-cp-1 config applied": 1, "test-w-1 config applied": 1, "test-cp-1 bootstrap asked": 1 };
    expect(trouble.changes).toEqual(once);
  });

  test("secrets that were made anew: no node is overwritten; with the state of before all is well (S1.7-4, S2.6)", async () => {
    const state = join(chain.lab.files, "state", ".pulumi", "stacks", "sluice", "test.json");
    copyFileSync(state, join(chain.lab.files, "before.json"));
    const secrets = (await chain.resources()).find(({ type }) => type === "talos:machine/secrets:Secrets");
    const before = trouble.changes;
    const anew = await chain.run("up", "--replace", secrets?.urn ?? "");
    expect(anew).not.toMatchObject({ code: 0 });
    for (const node of ["cp-1", "w-1"]) expect(anew.stdout).toMatch(new RegExp(`where: +${node}, foreign`));
    expect(anew.stdout).toContain("SLU-T109 A node belongs to another cluster");
    expect(anew.stdout).toContain("bring back the state that has the old ones");
    expect(trouble.changes).toEqual(before);

    copyFileSync(join(chain.lab.files, "before.json"), state);
    const again = await chain.up();
    expect(again.steps).toEqual([]);
    expect(trouble.changes).toEqual(before);
  });
});
