import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { stringify } from "yaml";
import { configChanges, isSameConfig } from "../../../../components/talos/config/configDiff.ts";
import { mask } from "../../../../components/talos/config/redact.ts";

const config = (...documents: readonly unknown[]) => documents.map((document) => stringify(document)).join("---\n");
const main = (machine: unknown, cluster: unknown = {}) => ({ version: "v1alpha1", machine, cluster });
const link = (name: string, more: object = {}) => ({ apiVersion: "v1alpha1", kind: "LinkConfig", name, ...more });

/** Values as configs have them. */
const values = fc.letrec((tie) => ({
  leaf: fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null)),
  list: fc.array(tie("any"), { maxLength: 3 }),
  map: fc.dictionary(fc.stringMatching(/^[a-z.]{1,6}$/), tie("any"), { maxKeys: 4, noNullPrototype: true }),
  any: fc.oneof({ depthSize: "small" }, tie("leaf"), tie("list"), tie("map")),
}));

describe("the difference between two machine configs", () => {
  test("names document, path, old value and new value", () => {
    const before = config(main({ type: "worker", sysctls: { a: "1", b: "2" }, certSANs: ["x"] }), link("eth0"));
    const after = config(main({ type: "worker", sysctls: { a: "1", b: "3", c: "4" } }), link("lo", { mtu: 1400 }));
    expect(configChanges(before, after)).toEqual([
      { document: "v1alpha1", path: ["machine", "sysctls", "b"], was: "2", is: "3" },
      { document: "v1alpha1", path: ["machine", "sysctls", "c"], was: undefined, is: "4" },
      { document: "v1alpha1", path: ["machine", "certSANs"], was: '["x"]', is: undefined },
      {
        document: "LinkConfig eth0",
        path: [],
        was: '{"apiVersion":"v1alpha1","kind":"LinkConfig","name":"eth0"}',
        is: undefined,
      },
      {
        document: "LinkConfig lo",
        path: [],
        was: undefined,
        is: '{"apiVersion":"v1alpha1","kind":"LinkConfig","name":"lo","mtu":1400}',
      },
    ]);
  });

  test("names what was removed from and added to a list, and in a list of the same length what changed where", () => {
    const before = config(main({ certSANs: ["a", "b", "c"], nodeTaints: {}, pods: [{ name: "p", port: 1 }] }));
    const after = config(main({ certSANs: ["b", "d"], nodeTaints: {}, pods: [{ name: "p", port: 2 }] }));
    expect(configChanges(before, after)).toEqual([
      { document: "v1alpha1", path: ["machine", "certSANs"], was: "a", is: undefined },
      { document: "v1alpha1", path: ["machine", "certSANs"], was: "c", is: undefined },
      { document: "v1alpha1", path: ["machine", "certSANs"], was: undefined, is: "d" },
      { document: "v1alpha1", path: ["machine", "pods", "0", "port"], was: "1", is: "2" },
    ]);
  });

  test.each([
    ["the order of keys and documents", config(link("lo"), main({ b: 1, a: { d: 2, c: 3 } }))],
    [
      "the way it is written, and comments",
      `# of a node\n{version: v1alpha1, machine: {a: {"c": 3, d: 2}, b: 1}}\n---\n${config(link("lo"))}`,
    ],
    [
      "what is empty, as Talos leaves it out",
      config(main({ a: { c: 3, d: 2, e: {}, f: [], g: null }, b: 1, h: { i: {} } }), link("lo", { addresses: [] })),
    ],
  ])("is none for %s", (_what, other) => {
    const one = config(main({ a: { c: 3, d: 2 }, b: 1 }), link("lo"));
    expect(configChanges(one, other)).toEqual([]);
    expect(isSameConfig(one, other)).toBe(true);
  });

  test.each([
    ["an empty text, which Talos keeps", { a: "" }, {}],
    ["a number and its text", { a: 1 }, { a: "1" }],
    ["false and nothing", { a: false }, {}],
    ["the order of a list", { a: [1, 2] }, { a: [2, 1] }],
  ])("is one for %s", (_what, one, other) => {
    expect(isSameConfig(config(main(one)), config(main(other)))).toBe(false);
  });

  test("distinguishes documents of one kind and name by their order", () => {
    const two = (first: number, second: number) => config(link("lo", { mtu: first }), link("lo", { mtu: second }));
    expect(configChanges(two(1, 2), two(1, 3))).toEqual([
      { document: "LinkConfig lo #2", path: ["mtu"], was: "2", is: "3" },
    ]);
  });

  test("shows that a secret differs, and never its value", () => {
    const before = config(
      main({ token: "MARKER1", files: [{ path: "/a", content: "MARKER1" }] }, { ca: { crt: "c", key: "MARKER1" } }),
    );
    const after = config(
      main({ token: "MARKER2", files: [{ path: "/a", content: "MARKER2" }] }, { ca: { crt: "c", key: "MARKER2" } }),
    );
    expect(configChanges(before, after)).toEqual([
      { document: "v1alpha1", path: ["machine", "token"], was: mask, is: mask },
      { document: "v1alpha1", path: ["machine", "files", "0", "content"], was: mask, is: mask },
      { document: "v1alpha1", path: ["cluster", "ca", "key"], was: mask, is: mask },
    ]);
  });

  test.each(["machine: {token: MARKER", "MARKER", "a: &a MARKER\nb: *a\n"])(
    "is unknown for a config that cannot be read with certainty: %j",
    (broken) => {
      const whole = config(main({}));
      expect(configChanges(broken, whole)).toBeUndefined();
      expect(configChanges(whole, broken)).toBeUndefined();
      expect(isSameConfig(broken, whole)).toBe(false);
    },
  );

  test("cuts long values", () => {
    const [change] = configChanges(config(main({})), config(main({ a: "x".repeat(500) }))) ?? [];
    expect(change?.is).toBe(`${"x".repeat(120)}...`);
  });

  test("is none between a config and itself, and the same in both directions", () => {
    fc.assert(
      fc.property(values.map, values.map, (one, other) => {
        const [a, b] = [config(main(one)), config(main(other))];
        expect(configChanges(a, a)).toEqual([]);
        const there = configChanges(a, b) ?? [];
        const back = configChanges(b, a) ?? [];
        expect(back.map(({ document, path, was, is }) => ({ document, path, was: is, is: was })).sort(byText)).toEqual(
          [...there].sort(byText),
        );
      }),
    );
  });

  test("contains no secret, whatever changes around it [C14]", () => {
    fc.assert(
      fc.property(values.map, values.map, fc.string(), (one, other, more) => {
        const secret = (around: object, text: string) =>
          config(main({ ...around, token: `MARKER${text}`, env: { A: [`MARKER${text}`] } }, { secret: "MARKER" }));
        const changes = configChanges(secret(one, ""), secret(other, more));
        expect(JSON.stringify(changes)).not.toContain("MARKER");
        const gone = configChanges(secret(one, ""), config(main(other)));
        expect(JSON.stringify(gone)).not.toContain("MARKER");
      }),
    );
  });
});

function byText(one: unknown, other: unknown): number {
  return JSON.stringify(one) < JSON.stringify(other) ? -1 : 1;
}
