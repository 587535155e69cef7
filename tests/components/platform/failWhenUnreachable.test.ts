import { describe, expect, test } from "@jest/globals";
import { SluiceError } from "../../../components/errors/sluiceError.ts";
import { failureIfUnchanged } from "../../../components/platform/failWhenUnreachable.ts";

const words = (where: string, paths: string) =>
  new SluiceError({ code: "SLU-K201", where, seen: `not as requested: ${paths}` }).message;

describe("an update that the provider skipped because the API did not answer", () => {
  describe("S1.8 of a release", () => {
    const values = { a: { b: 1 }, gone: null };
    const asked = { name: "thing", namespace: "ns", version: "1.10.0", values };

    test.each([
      ["its version", { version: "1.9.0", values: { a: { b: 1 } } }, "version"],
      ["a value", { version: "1.10.0", values: { a: { b: 2 } } }, "values.a.b"],
      ["a value that is gone", { version: "1.10.0", values: { a: { b: 1 }, c: true } }, "values.c"],
    ])("is an error that names what was left, and not a success without a change: %s", (_, state, path) => {
      const error = failureIfUnchanged("Release", asked, state);
      expect(error?.message).toBe(words("Release ns/thing", path));
      expect(error?.stack).toBeUndefined();
    });

    test("is not reported for one that was made: the state has the values except null", () => {
      expect(failureIfUnchanged("Release", asked, { version: "1.10.0", values: { a: { b: 1 } } })).toBeUndefined();
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
      failureIfUnchanged("GitRepository", { metadata, spec }, state as Record<string, unknown>)?.message;

    test("is found by values that are missing, and by values that should be gone", () => {
      const other = {
        ...live,
        spec: { ...live.spec, url: "https://git.example.org/old.git", ref: { commit: "0123" } },
      };
      expect(judge(other)).toBe(
        words("GitRepository flux-system/flux-system", "spec.url, spec.ref.branch, spec.ref.commit"),
      );
    });

    test("is not reported for what the API has added", () => {
      expect(judge(live)).toBeUndefined();
    });

    test("is found by a list that has other, more or fewer members", () => {
      const lists = (asked: readonly unknown[], state: readonly unknown[]) =>
        failureIfUnchanged(
          "Role",
          { metadata: { name: "it" }, rules: asked },
          { metadata: { name: "it" }, rules: state },
        )?.message;
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
      failureIfUnchanged("Secret", { metadata: { namespace: "kube-system" }, stringData: asked }, state as never)
        ?.message;

    test("is reported without the secret, the old or the new one", () => {
      const told = judge({ token: "geheim", network: "home" }, inCluster({ token: "alt", network: "home" }));
      expect(told).toBe(words("Secret kube-system/hcloud-1", "data.token"));
      const more = judge({ token: "geheim" }, inCluster({ token: "geheim", old: "alt" }));
      expect(more).toBe(words("Secret kube-system/hcloud-1", "data.old"));
    });

    test("is not reported for one that the API stores in its own form, or that has only the given texts in its state", () => {
      expect(judge({ token: "geheim" }, inCluster({ token: "geheim" }))).toBeUndefined();
      const { data: _, ...others } = inCluster({});
      expect(judge({ token: "geheim" }, { ...others, stringData: { token: "geheim" } })).toBeUndefined();
    });
  });
});
