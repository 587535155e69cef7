import { describe, expect, test } from "@jest/globals";
import { create, diff, read, update } from "../../../components/images/hetznerSnapshotLookup.ts";
import { FakeClock } from "../talos/fakeClock.ts";
import { type Answer, FakeHetzner, image, token } from "./fakeHetzner.ts";

const labels = { version: "1.13.8", os: "talos" };
const inputs = { labels, architecture: "amd64", token, remedy: "Make one.", deadline: 45 } as const;
const found = { ...inputs, snapshotId: "42", description: "image 42" };
const down = Object.assign(new TypeError("fetch failed"), { cause: new Error("connect ECONNREFUSED 10.0.0.1:443") });
const refused = { status: 401, body: '{"error":{"code":"unauthorized","message":"unable to authenticate"}}' };
const busy = { status: 429, body: '{"error":{"code":"rate_limit_exceeded","message":"limit reached"}}' };

function asking(...answers: readonly Answer[]) {
  const hetzner = new FakeHetzner(...answers);
  const clock = new FakeClock();
  return { hetzner, clock, asking: { api: hetzner.api, clock, chance: () => 0 } };
}

describe("the lookup of a snapshot", () => {
  test("S0.1 asks for the newest that is whole, by all labels and the architecture, and keeps its id", async () => {
    const { hetzner, asking: how } = asking({ images: [image(42)] });
    expect(await create(inputs, how)).toEqual({ id: "os=talos,version=1.13.8", outs: found });
    expect(hetzner.asked).toEqual([
      {
        type: "snapshot",
        status: "available",
        sort: "created:desc",
        label_selector: "os=talos,version=1.13.8",
        architecture: "x86",
        per_page: "1",
      },
    ]);
    expect(hetzner.headers).toEqual([{ authorization: `Bearer ${token}` }]);
  });

  test("S0.1 that finds none says which labels it asked for, which snapshots there are and what to do", async () => {
    const { asking: how } = asking({ images: [] }, { images: [image(7, { os: "talos", version: "1.12.6" })] });
    await expect(create(inputs, how)).rejects.toThrow(
      [
        "SLU-M101 No snapshot matches",
        "  wanted: a snapshot with the labels os=talos,version=1.13.8 on an image for amd64",
        "  seen:   the newest snapshots in the project are 7 'image 7' (os=talos,version=1.12.6)",
        "  cause:  No snapshot in the project has the labels that are asked for.",
        "  remedy: Make one.",
      ].join("\n"),
    );
  });

  test.each([
    ["there are none", { images: [] }, "no snapshot at all in the project"],
    ["the API would not say", down, "no such snapshot in the project"],
  ])("S0.1 that finds none says so too where %s", async (_, second, seen) => {
    const { asking: how } = asking({ images: [] }, second);
    await expect(create(inputs, how)).rejects.toThrow(`  seen:   ${seen}\n`);
  });

  test("S1.7 goes on after errors that pass, with longer delays", async () => {
    const html = { status: 502, body: "<html>" };
    const { clock, asking: how } = asking(busy, down, html, { images: [image(42)] });
    expect((await create(inputs, how)).outs.snapshotId).toBe("42");
    expect(clock.waits).toEqual([1, 2, 4]);
  });

  test("S1.7 gives up with the API's own words, and never with the token", async () => {
    const { clock, asking: how } = asking(...Array<Answer>(7).fill(busy));
    const error = await create(inputs, how).catch((thrown: Error) => thrown);
    expect(String(error)).toContain("  seen:   https://api answers 429: limit reached (rate_limit_exceeded)\n");
    expect(String(error)).toContain("SLU-M102");
    expect(String(error)).not.toContain(token);
    expect(clock.waits.reduce((sum, wait) => sum + wait, 0)).toBeLessThan(45);
  });

  test("S1.7 does not try again what cannot pass", async () => {
    const { clock, asking: how } = asking(refused);
    await expect(create(inputs, how)).rejects.toThrow("https://api answers 401: unable to authenticate (unauthorized)");
    expect(clock.waits).toEqual([]);
  });
});

describe("a refresh", () => {
  test.each([
    ["the same", 42],
    ["a newer one", 43],
  ])("U3 finds %s", async (_, id) => {
    const { asking: how } = asking({ images: [image(id)] });
    const props = { ...found, snapshotId: String(id), description: `image ${id}` };
    expect(await read("the-id", found, how)).toEqual({ id: "the-id", props });
  });

  test("U3 tells that it is gone", async () => {
    expect(await read("the-id", found, asking({ images: [] }).asking)).toEqual({});
  });

  test("U3 asks once, and says why it cannot tell", async () => {
    const { hetzner, asking: how } = asking(down);
    await expect(read("the-id", found, how)).rejects.toThrow(
      "https://api does not answer: connect ECONNREFUSED 10.0.0.1:443",
    );
    expect(hetzner.asked).toHaveLength(1);
  });
});

describe("a change", () => {
  test.each([
    ["nothing", {}, { changes: false, replaces: [] }],
    ["the order of the labels", { labels: { os: "talos", version: "1.13.8" } }, { changes: false, replaces: [] }],
    ["the token", { token: "another" }, { changes: true, replaces: [] }],
    ["the remedy", { remedy: "Buy one." }, { changes: true, replaces: [] }],
    ["a label", { labels: { ...labels, version: "1.13.9" } }, { changes: true, replaces: ["labels"] }],
    ["the architecture", { architecture: "arm64" as const }, { changes: true, replaces: ["labels"] }],
  ])("U2 is told offline: %s", async (_, changed, expected) => {
    expect(await diff("the-id", found, { ...inputs, ...changed })).toEqual(expected);
  });

  test("U1 of the token looks again, with the new one", async () => {
    const { hetzner, asking: how } = asking({ images: [image(43)] });
    const { outs } = await update("the-id", found, { ...inputs, token: "another" }, how);
    expect(outs).toMatchObject({ snapshotId: "43", token: "another" });
    expect(hetzner.headers).toEqual([{ authorization: "Bearer another" }]);
  });
});
