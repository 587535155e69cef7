import { describe, expect, test } from "@jest/globals";
import { leftAsItWas } from "../../../components/platform/leftAsItWas.ts";

const words = (what: string, paths: string) =>
  `SLU-K201 ${what} is not what it should be (${paths}): the Kubernetes API did not answer when it was to be changed. Run it again.`;

describe("an update that the provider left out because the API did not answer", () => {
  describe("S1.8 of a release", () => {
    const values = { a: { b: 1 }, gone: null };
    const asked = { name: "thing", namespace: "ns", version: "1.10.0", values };

    test.each([
      ["its version", { version: "1.9.0", values: { a: { b: 1 } } }, "version"],
      ["a value", { version: "1.10.0", values: { a: { b: 2 } } }, "values.a.b"],
      ["a value that is gone", { version: "1.10.0", values: { a: { b: 1 }, c: true } }, "values.c"],
    ])("is an error of one line, and no success that changed nothing: %s", (_, state, path) => {
      const error = leftAsItWas("Release", asked, state);
      expect(error?.message).toBe(words("Release ns/thing", path));
      expect(error?.stack).toBeUndefined();
    });

    test("is not seen in one that was made: the state has the values but for null", () => {
      expect(leftAsItWas("Release", asked, { version: "1.10.0", values: { a: { b: 1 } } })).toBeUndefined();
    });
  });

  describe("S1.8 of an object", () => {
    const metadata = { name: "flux-system", namespace: "flux-system" };
    const spec = { url: "https://git.example.org/home.git", ref: { branch: "main", commit: undefined } };
    const live = {
      metadata: { ...metadata, uid: "1", labels: {} },
      spec: { ...spec, ref: { branch: "main" }, timeout: "60s" },
    };
    const judge = (state: object) =>
      leftAsItWas("GitRepository", { metadata, spec }, state as Record<string, unknown>)?.message;

    test("is seen in what it should say and does not, and in what it should no longer say", () => {
      const other = {
        ...live,
        spec: { ...live.spec, url: "https://git.example.org/old.git", ref: { commit: "0123" } },
      };
      expect(judge(other)).toBe(
        words("GitRepository flux-system/flux-system", "spec.url, spec.ref.branch, spec.ref.commit"),
      );
    });

    test("is not seen in what the API has added", () => {
      expect(judge(live)).toBeUndefined();
    });

    test("is seen in a list that has other members, or more or fewer", () => {
      const lists = (asked: readonly unknown[], state: readonly unknown[]) =>
        leftAsItWas("Role", { metadata: { name: "it" }, rules: asked }, { metadata: { name: "it" }, rules: state })
          ?.message;
      const rule = { verbs: ["get"] };
      expect(lists([rule], [{ ...rule, resources: [] }])).toBeUndefined();
      expect(lists([rule], [{ verbs: ["list"] }])).toBe(words("Role it", "rules[0].verbs[0]"));
      expect(lists([rule], [rule, rule])).toBe(words("Role it", "rules"));
      expect(lists([rule], [])).toBe(words("Role it", "rules"));
    });
  });

  describe("S1.8 of a secret", () => {
    const inCluster = (texts: Readonly<Record<string, string>>) => ({
      metadata: { name: "hcloud-1", namespace: "kube-system" },
      data: Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString("base64")])),
    });
    const judge = (asked: Readonly<Record<string, string>>, state: object) =>
      leftAsItWas("Secret", { metadata: { namespace: "kube-system" }, stringData: asked }, state as never)?.message;

    test("is told without the secret, the old one or the new", () => {
      const told = judge({ token: "geheim", network: "home" }, inCluster({ token: "alt", network: "home" }));
      expect(told).toBe(words("Secret kube-system/hcloud-1", "data.token"));
      const more = judge({ token: "geheim" }, inCluster({ token: "geheim", old: "alt" }));
      expect(more).toBe(words("Secret kube-system/hcloud-1", "data.old"));
    });

    test("is not seen in one that the API keeps in its own form, or that has no texts in its state but those given", () => {
      expect(judge({ token: "geheim" }, inCluster({ token: "geheim" }))).toBeUndefined();
      const { data: _, ...others } = inCluster({});
      expect(judge({ token: "geheim" }, { ...others, stringData: { token: "geheim" } })).toBeUndefined();
    });
  });
});
