import { describe, expect, test } from "@jest/globals";
import { operations } from "../../../components/images/hetznerSnapshot.provider.ts";
import { FakeClock } from "../talos/fakeClock.ts";
import { type Answer, FakeHetzner, image, server, token } from "./fakeHetzner.ts";

const labels = { version: "1.13.8", os: "talos" };
const inputs = {
  labels,
  architecture: "amd64",
  servers: { "dev-cp-1": "fsn1", "dev-w-1": "nbg1" },
  token,
  remedy: "Make one.",
  deadlineSeconds: 45,
  row: "the urn",
} as const;
const found = { ...inputs, snapshotId: "42", description: "image 42" };
const noServers = { servers: [] };
const both = { servers: [server("dev-cp-1", "fsn1"), server("dev-w-1", "nbg1"), server("other", "fsn1")] };
const absent = { ...inputs, snapshotId: "no-snapshot", description: "no snapshot yet" };
const reminder =
  "no snapshot has the labels os=talos,version=1.13.8. The existing servers do not need it, one that is added or recreated does. Make one.";
const down = new Error("connect ECONNREFUSED 10.0.0.1:443");
const refused = { status: 401, body: '{"error":{"code":"unauthorized","message":"unable to authenticate"}}' };
const busy = { status: 429, body: '{"error":{"code":"rate_limit_exceeded","message":"limit reached"}}' };

function asking(...answers: readonly Answer[]) {
  const hetzner = new FakeHetzner(...answers);
  const clock = new FakeClock();
  const notes: string[] = [];
  const note = async (text: string, as: string) => void notes.push(`${as}: ${text}`);
  return { hetzner, clock, notes, asking: { api: hetzner.api, clock, random: () => 0, note } };
}

describe("the lookup of a snapshot", () => {
  test("S0.1 finds the newest complete one by all labels and the architecture, and keeps its id", async () => {
    const { hetzner, asking: how } = asking({ images: [image(42)] });
    expect(await operations.create(inputs, how)).toEqual(found);
    expect(operations.id(inputs)).toBe("os=talos,version=1.13.8");
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

  test("S0.1 reports the requested labels, the existing snapshots and what to do if none matches", async () => {
    const { asking: how } = asking({ images: [] }, noServers, {
      images: [image(7, { os: "talos", version: "1.12.6" })],
    });
    await expect(operations.create(inputs, how)).rejects.toThrow(
      [
        "SLU-M101 No snapshot matches",
        "  expected:   a snapshot with the labels os=talos,version=1.13.8 on an image for amd64",
        "  seen:       the newest snapshots in the project are 7 'image 7' (os=talos,version=1.12.6)",
        "  cause:      No snapshot in the project has the requested labels.",
        "  what to do: Make one.",
      ].join("\n"),
    );
  });

  test.each([
    ["there are none", { images: [] }, "no snapshot at all in the project"],
    ["the API would not say", down, "no such snapshot in the project"],
  ])("S0.1 reports that none matches if %s", async (_, second, seen) => {
    const { asking: how } = asking({ images: [] }, noServers, second);
    await expect(operations.create(inputs, how)).rejects.toThrow(`  seen:       ${seen}\n`);
  });

  test("S1.7 retries after transient errors, with longer delays", async () => {
    const html = { status: 502, body: "<html>" };
    const { clock, asking: how } = asking(busy, down, html, { images: [image(42)] });
    expect((await operations.create(inputs, how)).snapshotId).toBe("42");
    expect(clock.waits).toEqual([1, 2, 4]);
  });

  test("S1.7 fails with the API's own words, and never with the token", async () => {
    const { clock, asking: how } = asking(...Array<Answer>(7).fill(busy));
    const error = await operations.create(inputs, how).catch((thrown: Error) => thrown);
    expect(String(error)).toContain("  seen:       https://api answers 429: limit reached (rate_limit_exceeded)\n");
    expect(String(error)).toContain("SLU-M102");
    expect(String(error)).not.toContain(token);
    expect(clock.waits.reduce((sum, wait) => sum + wait, 0)).toBeLessThan(45);
  });

  test("S1.7 does not retry after a permanent error", async () => {
    const { clock, asking: how } = asking(refused);
    await expect(operations.create(inputs, how)).rejects.toThrow(
      "https://api answers 401: unable to authenticate (unauthorized)",
    );
    expect(clock.waits).toEqual([]);
  });
});

describe("a snapshot that does not exist", () => {
  test("S8.3 does not end an upgrade of the servers that exist, and is asked for", async () => {
    const { asking: how, notes } = asking({ images: [] }, both);
    expect(await operations.create(inputs, how)).toEqual(absent);
    expect(notes).toEqual([`warning: ${reminder}`]);
  });

  test.each([
    ["is added", { servers: [server("dev-cp-1", "fsn1")] }],
    ["moves to another location", { servers: [server("dev-cp-1", "fsn1"), server("dev-w-1", "hel1")] }],
  ])("S0.1 ends the update before a server that %s is created", async (_, servers) => {
    const { asking: how, notes } = asking({ images: [] }, servers, { images: [] });
    await expect(operations.create(inputs, how)).rejects.toThrow("SLU-M101");
    expect(notes).toEqual([]);
  });

  test("S1.7 is not concluded from servers that the API did not list", async () => {
    const { asking: how } = asking({ images: [] }, down, { images: [] }, both);
    expect(await operations.create(inputs, how)).toEqual(absent);
    await expect(operations.create(inputs, asking({ images: [] }, refused).asking)).rejects.toThrow("SLU-M102");
  });

  test("S8.3 is searched for by every update, and the preview says so", async () => {
    expect(operations.difference(absent, inputs)).toEqual({ kind: "update" });
    expect(operations.notes(absent, inputs)).toEqual([{ text: reminder, as: "row" }]);
    expect(operations.notes(found, inputs)).toEqual([]);
    expect(operations.notes(absent, { ...inputs, labels: { os: "other" } })).toEqual([]);
    expect(await operations.create(inputs, asking({ images: [image(42)] }).asking)).toEqual(found);
  });

  test("U3 is no drift, and one that appeared is", async () => {
    expect(await operations.read(absent, asking({ images: [] }).asking)).toEqual(absent);
    expect(await operations.read(absent, asking({ images: [image(42)] }).asking)).toEqual(found);
  });
});

describe("the refresh of a snapshot", () => {
  test.each([
    ["the same", 42],
    ["a newer one", 43],
  ])("U3 finds %s", async (_, id) => {
    const { asking: how } = asking({ images: [image(id)] });
    const props = { ...found, snapshotId: String(id), description: `image ${id}` };
    expect(await operations.read(found, how)).toEqual(props);
  });

  test("U3 reports that it is gone", async () => {
    expect(await operations.read(found, asking({ images: [] }).asking)).toBeUndefined();
  });

  test("U3 calls the API once, and reports why it could not check", async () => {
    const { hetzner, asking: how } = asking(down);
    await expect(operations.read(found, how)).rejects.toThrow(
      "https://api does not answer: connect ECONNREFUSED 10.0.0.1:443",
    );
    expect(hetzner.asked).toHaveLength(1);
  });
});

describe("a change of a snapshot's lookup", () => {
  test.each([
    ["nothing", {}, { kind: "none" }],
    ["the order of the labels", { labels: { os: "talos", version: "1.13.8" } }, { kind: "none" }],
    ["the token", { token: "another" }, { kind: "update" }],
    ["the remedy", { remedy: "Buy one." }, { kind: "record" }],
    ["a label", { labels: { ...labels, version: "1.13.9" } }, { kind: "replace", keys: ["labels"] }],
    ["the architecture", { architecture: "arm64" as const }, { kind: "replace", keys: ["labels"] }],
  ])("U2 is found offline: %s", (_, changed, expected) => {
    expect(operations.difference(found, { ...inputs, ...changed })).toEqual(expected);
  });

  test("U1 repeats the lookup with a new token", async () => {
    const { hetzner, asking: how } = asking({ images: [image(43)] });
    const state = await operations.create({ ...inputs, token: "another" }, how);
    expect(state).toMatchObject({ snapshotId: "43", token: "another" });
    expect(hetzner.headers).toEqual([{ authorization: "Bearer another" }]);
  });
});
