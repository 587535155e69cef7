import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { type Properties, renamed } from "../../../components/engine/renamed.ts";
import { engineCalls, type ResourceOperations } from "../../../components/engine/resourceProvider.ts";
import { Engine } from "../gates/engine.ts";

interface Inputs {
  readonly row: string;
  readonly size: number;
  readonly label?: string;
  readonly __provider?: string;
}

interface State extends Inputs {
  readonly made: string;
}

const engine = new Engine();
beforeAll(() => engine.start());
afterAll(() => engine.stop());
const done: string[] = [];
beforeEach(() => {
  engine.told.length = 0;
  done.length = 0;
});

const operations = {
  id: ({ size }) => `of size ${size}`,
  async create(inputs, { report }) {
    done.push(`create ${inputs.size}`);
    report("at work");
    return { ...inputs, made: `made ${inputs.size}` };
  },
  difference(olds, news) {
    if (olds.size * news.size < 0) return { kind: "replace", keys: ["size"] };
    if (olds.size !== news.size) return { kind: "update" };
    return { kind: olds.label === news.label ? "none" : "record" };
  },
  refusal: (_olds, { size }) => (size === 13 ? new Error("13 is refused") : undefined),
  notes: (olds, news) => (olds.size === news.size ? [] : [{ text: `grows to ${news.size}`, as: "info" }]),
  outcome: ({ made }) => made,
} satisfies ResourceOperations<Inputs, State, { readonly report: (text: string) => void }>;

const calls = engineCalls<Inputs, State, { readonly report: (text: string) => void }>(operations, (context) => context);
const inputs: Inputs = { row: "the urn", size: 1, __provider: "the text" };
const state: State = { ...inputs, made: "made 1" };

describe("a dynamic resource", () => {
  test("is created, with progress and the result in its own row", async () => {
    expect(await calls.create(inputs)).toEqual({ id: "of size 1", outs: state });
    expect(engine.told).toEqual(["the urn: at work", "the urn: made 1"]);
  });

  test("is not updated if nothing relevant differs, and shows nothing", async () => {
    expect(await calls.diff("id", state, { ...inputs, row: "another urn" })).toEqual({ changes: false, replaces: [] });
    expect(engine.told).toEqual([]);
  });

  test("refuses a change that must not be made, in previews and before anything is done", async () => {
    const news = { ...inputs, size: 13 };
    await expect(calls.diff("id", state, news)).rejects.toThrow("13 is refused");
    await expect(calls.update("id", state, news)).rejects.toThrow("13 is refused");
    expect([done, engine.told]).toEqual([[], []]);
  });

  test("shows the effect of a difference, and applies it by an update", async () => {
    const news = { ...inputs, size: 2 };
    expect(await calls.diff("id", state, news)).toEqual({ changes: true, replaces: [] });
    expect(engine.told).toEqual(["the urn for good: grows to 2"]);
    expect(await calls.update("id", state, news)).toEqual({ outs: { ...news, made: "made 2" } });
    expect(done).toEqual(["create 2"]);
  });

  describe("whose update failed", () => {
    const failing = engineCalls<Inputs, State, unknown>(
      {
        ...operations,
        create: async () => {
          throw new Error("SLU-T201 The node rejected its machine config");
        },
      },
      () => undefined,
    );
    const marked = { ...state, isUnfinished: true } as State;

    test("keeps its former state with a mark, reports the error as it is, and says that the next run repeats the update", async () => {
      await expect(failing.update("id", state, { ...inputs, size: 2 })).rejects.toMatchObject({
        id: "id",
        properties: marked,
        reasons: ["the update is incomplete: the next `up` makes it again"],
      });
      expect(engine.told).toEqual(["the urn for good: SLU-T201 The node rejected its machine config"]);
    });

    test("is updated by the next run even if the inputs are those of the state again, and loses the mark", async () => {
      expect(await calls.diff("id", marked, inputs)).toEqual({ changes: true, replaces: [] });
      expect(engine.told).toEqual(["the urn: its last update failed, so it is made again"]);
      expect(await calls.update("id", marked, inputs)).toEqual({ outs: state });
      expect(done).toEqual(["create 1"]);
      expect(await calls.diff("id", state, inputs)).toEqual({ changes: false, replaces: [] });
    });

    test("keeps the mark through a refresh, and shows it to none of its operations", async () => {
      const seen: unknown[] = [];
      const reading = engineCalls<Inputs, State, unknown>(
        {
          ...operations,
          read: async (state) => {
            seen.push(state);
            return { ...state, made: "elsewhere" };
          },
        },
        () => undefined,
      );
      expect(await reading.read("id", marked)).toEqual({ id: "id", props: { ...marked, made: "elsewhere" } });
      expect(await calls.read("id", marked)).toEqual({ id: "id", props: marked });
      expect(seen).toEqual([state]);
    });

    test("was not started if the change is refused, so nothing is marked", async () => {
      const refused = await failing.update("id", state, { ...inputs, size: 13 }).catch((error) => error);
      expect(refused).not.toHaveProperty("properties");
    });
  });

  test("is replaced if the difference requires it", async () => {
    expect(await calls.diff("id", state, { ...inputs, size: -1 })).toEqual({ changes: true, replaces: ["size"] });
  });

  test("has only its state rewritten if only that differs", async () => {
    const news = { ...inputs, label: "new" };
    expect(await calls.diff("id", state, news)).toEqual({ changes: true, replaces: [] });
    expect(await calls.update("id", state, news)).toEqual({ outs: { ...news, made: "made 1" } });
    expect([done, engine.told]).toEqual([[], []]);
  });

  describe("whose state an earlier version has left", () => {
    const migrate = (state: Properties) => renamed(state, { width: "size" });
    const seen: unknown[] = [];
    const former = engineCalls<Inputs, State, { readonly report: (text: string) => void }>(
      { ...operations, migrate, read: async (state) => state, delete: async (state) => void seen.push(state) },
      (context) => context,
    );
    const { size: width, row: _, ...rest } = state;
    const before = { ...rest, width } as unknown as State;

    test("has it rewritten with the current names, without any work", async () => {
      expect(await former.diff("id", before, inputs)).toEqual({ changes: true, replaces: [] });
      expect(engine.told).toEqual(["the urn: only its record in the state is rewritten for this version"]);
      expect(await former.update("id", before, inputs)).toEqual({ outs: state });
      expect(done).toEqual([]);
      expect(await former.diff("id", state, inputs)).toEqual({ changes: false, replaces: [] });
    });

    test("is compared, changed and deleted by its values", async () => {
      const news = { ...inputs, size: 2 };
      expect(await former.diff("id", before, news)).toEqual({ changes: true, replaces: [] });
      expect(await former.update("id", before, news)).toEqual({ outs: { ...news, made: "made 2" } });
      await former.remove("id", before);
      expect(seen).toEqual([{ ...state, row: "" }]);
    });

    test("keeps it if a refresh finds nothing new, because a name is no drift", async () => {
      expect(await former.read("id", before)).toEqual({ id: "id", props: before });
    });
  });

  test("has the provider text in its state replaced without any work when it differs", async () => {
    const news = { ...inputs, __provider: "another text" };
    expect(await calls.diff("id", state, news)).toEqual({ changes: true, replaces: [] });
    expect(await calls.update("id", state, news)).toEqual({ outs: { ...news, made: "made 1" } });
    expect(done).toEqual([]);
    expect(engine.told).toEqual(["the urn: only its record in the state is rewritten for this version"]);
  });

  test("is unchanged by a refresh if it has no read, and is deleted without any work", async () => {
    expect(await calls.read("id", state)).toEqual({ id: "id", props: state });
    await calls.remove("id", state);
    expect([done, engine.told]).toEqual([[], []]);
  });

  test("is gone if a refresh does not find it", async () => {
    const gone = engineCalls<Inputs, State, unknown>({ ...operations, read: async () => undefined }, () => ({
      report: () => undefined,
    }));
    expect(await gone.read("id", state)).toEqual({});
  });
});
