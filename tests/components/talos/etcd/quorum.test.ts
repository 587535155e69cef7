import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { lossOfQuorum, lossWhileAway, quorumOf, type Voter } from "../../../../components/talos/etcd/quorum.ts";

const voter = (name: string, healthy = true): Voter => ({ id: `id of ${name}`, name, healthy });
const leave = (name: string, ...voters: readonly Voter[]) => lossOfQuorum(voters, `id of ${name}`);

/** Sets of up to seven voters, and one of them. */
const clusters = fc
  .array(fc.boolean(), { minLength: 1, maxLength: 7 })
  .chain((health) =>
    fc.tuple(fc.constant(health.map((healthy, place) => voter(`m${place}`, healthy))), fc.nat(health.length - 1)),
  );
const leaving = (voters: readonly Voter[], place: number) => voters[place]?.id ?? "";
const majority = (voters: readonly Voter[]) => voters.filter(({ healthy }) => healthy).length * 2 > voters.length;

describe("the quorum of etcd without one of its members", () => {
  test.each([
    ["a healthy one of three", leave("a", voter("a"), voter("b"), voter("c"))],
    ["the sick one of three", leave("a", voter("a", false), voter("b"), voter("c"))],
    ["a healthy one of two", leave("a", voter("a"), voter("b"))],
    ["two of five, one after the other", leave("b", voter("b"), voter("c"), voter("d"), voter("e", false))],
  ])("is preserved without %s", (_, why) => {
    expect(why).toBeUndefined();
  });

  test.each([
    ["the only one", leave("a", voter("a")), "it is the only voter"],
    [
      "a healthy one of three while another is sick",
      leave("a", voter("a"), voter("b"), voter("c", false)),
      "2 of the 2 remaining members must be healthy, and fewer are (unhealthy: c)",
    ],
    [
      "the sick one of two, on which nobody can agree",
      leave("a", voter("a", false), voter("b")),
      "2 of 2 members must agree to it, and fewer are healthy (unhealthy: a)",
    ],
  ])("is lost without %s", (_, why, said) => {
    expect(why).toContain(said);
  });

  test("is reported as preserved exactly when it exists before and after [C35]", () => {
    fc.assert(
      fc.property(clusters, ([voters, place]) => {
        const id = leaving(voters, place);
        const rest = voters.filter((one) => one.id !== id);
        const isKept = majority(voters) && rest.length > 0 && majority(rest);
        expect(lossOfQuorum(voters, id) === undefined).toBe(isKept);
      }),
    );
  });

  test("is never more likely to be lost because another member is healthy", () => {
    fc.assert(
      fc.property(clusters, ([voters, place]) => {
        const id = leaving(voters, place);
        const cured = voters.map((one) => ({ ...one, healthy: true }));
        if (lossOfQuorum(voters, id) === undefined) expect(lossOfQuorum(cured, id)).toBeUndefined();
      }),
    );
  });

  test.each([
    ["one of three", ["a", "b", "c"], [], undefined],
    ["one of two", ["a", "b"], [], "2 of 2 members must be healthy meanwhile, and only 1 would be"],
    ["one of three while another is sick", ["a", "b", "c"], ["c"], "only 1 would be (unhealthy: c)"],
    ["the sick one of three", ["a", "b", "c"], ["a"], undefined],
    ["one of four while another is sick", ["a", "b", "c", "d"], ["d"], "3 of 4 members must be healthy meanwhile"],
    ["the only one, which brings it back", ["a"], [], undefined],
  ])("is judged while a member is away: %s", (_, names, sick, said) => {
    const voters = names.map((name) => voter(name, !sick.includes(name)));
    const why = lossWhileAway(voters, "id of a");
    if (said === undefined) expect(why).toBeUndefined();
    else expect(why).toContain(said);
  });

  test("is reported as preserved while one is away exactly when it exists", () => {
    fc.assert(
      fc.property(clusters, ([voters, place]) => {
        const id = leaving(voters, place);
        const away = voters.map((one) => (one.id === id ? { ...one, healthy: false } : one));
        expect(lossWhileAway(voters, id) === undefined).toBe(voters.length === 1 || majority(away));
      }),
    );
  });

  test("is more than half", () => {
    expect([1, 2, 3, 4, 5].map(quorumOf)).toEqual([1, 2, 2, 3, 3]);
  });
});
