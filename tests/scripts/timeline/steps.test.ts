import { describe, expect, test } from "@jest/globals";
import type { Attempt } from "../../../scripts/resume/resumedUp.ts";
import { stepsOf } from "../../../scripts/timeline/steps.ts";
import { attempt, begins, ends, fails, gate, line, says, server } from "./engineRun.ts";

const created = { type: "hcloud:index/server:Server", name: "test-cp-1", op: "create", urn: server };

describe("the steps of a run", () => {
  test.each<[string, Attempt["lines"], readonly object[]]>([
    [
      "one that succeeds, with what its row showed",
      [begins(1, server), says(2, server, "<{%reset%}>is starting<{%reset%}>"), ends(5, server)],
      [
        {
          ...created,
          began: 1,
          ended: 5,
          outcome: "done",
          texts: [{ at: 2, text: "is starting" }],
          errors: [],
        },
      ],
    ],
    [
      "one that fails, whether its error is before its end or after",
      [begins(1, server), says(4, server, "no", "error"), fails(5, server), says(6, server, "never", "error")],
      [{ ...created, began: 1, ended: 5, outcome: "failed", texts: [], errors: ["no", "never"] }],
    ],
    [
      "one that the end of the engine interrupts",
      [begins(1, server)],
      [{ ...created, began: 1, ended: 9, outcome: "interrupted", texts: [], errors: [] }],
    ],
    [
      "none of a preview",
      [line(1, { resourcePreEvent: { planning: true, metadata: { op: "create", urn: server } } })],
      [],
    ],
    ["none of what stays the same", [begins(1, server, { op: "same" }), ends(2, server)], []],
    ["none of components, which create nothing", [begins(1, server, { new: {} }), ends(2, server)], []],
    [
      "none of providers that the engine adds by itself",
      ["default", "default_0_8_1_github_/api.github.com"].flatMap((name) => {
        const provider = `urn:pulumi:test::sluice::pulumi:providers:talos::${name}`;
        return [begins(1, provider), ends(2, provider)];
      }),
      [],
    ],
    ["none of a line that was cut off", [{ at: 1, text: '{"resourcePreEvent":{"meta' }], []],
  ])("%s", (_, lines, steps) => {
    expect(stepsOf([attempt(0, 9, lines)])).toEqual(steps);
  });

  test("of several runs of the engine are in one order", () => {
    const first = attempt(0, 4, [begins(1, server), fails(3, server)]);
    const second = attempt(10, 20, [
      begins(11, gate("Etcd")),
      begins(12, server),
      ends(13, server),
      ends(15, gate("Etcd")),
    ]);
    expect(stepsOf([second, first]).map(({ name, began, outcome }) => `${began} ${name} ${outcome}`)).toEqual([
      "1 test-cp-1 failed",
      "11 test-gate done",
      "12 test-cp-1 done",
    ]);
  });
});
