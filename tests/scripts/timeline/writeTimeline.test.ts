import { describe, expect, test } from "@jest/globals";
import type { Run } from "../../../scripts/summary/state/run.ts";
import { timelineHtml } from "../../../scripts/timeline/writeTimeline.ts";
import { Secrets } from "../../support/leaks.ts";
import { at, openedTrace, runOf, timeline } from "../summary/runs.ts";
import { attempt, begins, ends, fails, says, server, urn } from "./engineRun.ts";

const etcd = urn("pulumi-nodejs:dynamic/gates:Etcd", "Etcd");
const cilium = urn("pulumi-nodejs:dynamic/gates:CiliumReady", "test-cilium-ready");
const labFacts = timeline("9.5 cp-1 bootstrap asked", "10 cp-1 etcd voter");

/** A gate opened in the first run of the engine, a server failed; then the server came up, and Cilium did not. */
const attempts = [
  attempt(at(0), at(17), [
    begins(at(1), server),
    begins(at(9), etcd),
    says(at(9.2), etcd, "waits for cp-1: is a learner"),
    ends(at(15.1), etcd),
    says(at(16), server, "answered 503", "error"),
    fails(at(16), server),
  ]),
  attempt(at(27), at(100), [
    begins(at(28), server),
    ends(at(30), server),
    begins(at(31), cilium),
    says(at(90), cilium, "SLU-K111 Cilium is not ready\n  seen: <b>w-1</b>", "error"),
    fails(at(91), cilium),
  ]),
];

function html(run: Partial<Run> = {}, parts: Partial<Parameters<typeof timelineHtml>[0]> = {}): string {
  const given = { environment: "test", run: runOf({ trace: openedTrace, ...run }), attempts, hasFailed: true };
  return timelineHtml({ ...given, ...parts }) ?? "";
}

/** The lane of a resource, from its name on. */
function lane(page: string, name: string): string {
  return (
    page
      .split('<li class="lane')
      .slice(1)
      .find((text) => text.includes(name)) ?? ""
  );
}

describe("S6.3 the timeline of a run", () => {
  test("says how long it took, how often it resumed, and what failed, before anything else", () => {
    const page = html();
    expect(page).toContain('<h1 class="bad">test: failed after 90.0 s</h1>');
    expect(page).toContain("1 resource and 2 gates created or changed, resumed once");
    expect(page.indexOf("SLU-K111")).toBeLessThan(page.indexOf("Where the time went"));
    expect(page).toMatch(/between two runs of the engine<\/th><td>10\.0 s/);
  });

  test("has a lane for each resource, with its attempts and errors, and the delay between two runs", () => {
    const page = html();
    expect(page.match(/<li class="lane/g)).toHaveLength(3);
    const own = lane(page, "test-cp-1");
    expect(own.match(/class="bar \w+"/g)).toEqual(['class="bar failed"', 'class="bar work"']);
    expect(own).toContain("15.0 s  answered 503");
    expect(own).toContain('title="the engine did not run"');
  });

  test("divides a gate by its stability window, and has what it waited for, which facts became true and its evidence", () => {
    const own = lane(html({ timeline: labFacts }), "gate Etcd");
    expect(own.match(/class="bar \w+"/g)).toEqual(['class="bar waiting"', 'class="bar stable"']);
    const story = [...own.matchAll(/<li class="(\w+)">([^<]+)</g)].map(([, kind, text]) => `${kind} ${text}`);
    expect(story).toEqual([
      "text 8.2 s  waits for cp-1: is a learner",
      "fact 9.0 s  cp-1 etcd voter",
      "outcome 14.1 s  opened: 1 voting member, no alarm",
    ]);
  });

  test("marks the critical path in words as well", () => {
    const page = html();
    expect(lane(page, "gate CiliumReady")).toMatch(/^ gate critical".*, on the critical path, took /s);
  });

  test("shows every text as it is, and loads nothing", () => {
    const page = html();
    expect(page).toContain("seen: &#60;b&#62;w-1&#60;/b&#62;");
    expect(page).not.toMatch(/https?:|<script|<link|<img|@import|url\(/);
  });

  test("has no value of a resource, and no secret of the environment that an error quotes", () => {
    const secrets = new Secrets();
    secrets.addMarker("the kubeconfig", "kubeconfig-of-nobody-else");
    secrets.add("the token", "token-0123456789-abcdefghij");
    const values = { kubeconfig: "kubeconfig-of-nobody-else", token: "token-0123456789-abcdefghij" };
    const leaking = [
      begins(at(1), server, { new: { custom: true, inputs: values, outputs: values }, diffs: [values.kubeconfig] }),
      says(at(2), server, `refused ${values.token}`, "error"),
      fails(at(3), server),
    ];
    process.env.HCLOUD_TOKEN = values.token;
    try {
      const page = html({}, { attempts: [attempt(at(0), at(4), leaking)] });
      expect(page).toContain("refused [masked]");
      expect(secrets.foundIn(page)).toEqual([]);
    } finally {
      delete process.env.HCLOUD_TOKEN;
    }
  });

  test("is not written of a run that changed nothing", () => {
    const nothing = { environment: "test", run: runOf({}), attempts: [attempt(at(0), at(1), [])], hasFailed: false };
    expect(timelineHtml(nothing)).toBeUndefined();
  });

  test("shows the beginning and the end of a story that is too long", () => {
    const messages = Array.from({ length: 100 }, (_, place) => says(at(9 + place / 100), etcd, `try ${place}`));
    const lines = [begins(at(9), etcd), ...messages, ends(at(15), etcd)];
    const own = lane(html({}, { attempts: [attempt(at(0), at(16), lines)] }), "gate Etcd");
    expect(own).toContain("try 19<");
    expect(own).toContain("… 60 more<");
    expect(own).not.toContain("try 20<");
    expect(own).toContain("try 80<");
  });
});
