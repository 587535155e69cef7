import { describe, expect, test } from "@jest/globals";
import { catalogue } from "../../../components/errors/catalogue.ts";
import { reasonOf } from "../../../components/errors/reasonOf.ts";
import { SluiceError } from "../../../components/errors/sluiceError.ts";

const lines = (error: SluiceError) => error.message.split("\n");

describe("the message of an error", () => {
  test("has the code, where, what was expected and seen, for how long, the cause and what to do", () => {
    const error = new SluiceError({
      code: "SLU-T331",
      what: "kubelet to be healthy",
      where: "w-1",
      seen: "kubelet is Failed\nno such file or directory\n",
      forSeconds: 83.4,
      remedy: "Mount the disk.",
    });
    expect(lines(error)).toEqual([
      "SLU-T331 Talos services are not healthy",
      "  where:      w-1",
      "  expected:   kubelet to be healthy",
      "  seen:       kubelet is Failed",
      "              no such file or directory",
      "  for:        1 min 23 s",
      `  cause:      ${catalogue["SLU-T331"].cause}`,
      "  what to do: Mount the disk.",
    ]);
  });

  test("has no line for what is unknown, and the catalogue's remedy", () => {
    const error = new SluiceError({ code: "SLU-M101", what: "a snapshot", seen: "none" });
    expect(error.message).not.toMatch(/where:|for:/);
    expect(lines(error).at(-1)).toBe(`  what to do: ${catalogue["SLU-M101"].remedy}`);
  });

  test("lists what else is wrong under what was expected, and the cause of each code", () => {
    const silent = { code: "SLU-T101", what: "every node to run", seen: "does not answer" } as const;
    const error = new SluiceError({
      ...silent,
      subject: "gate Stages did not open within 30 s",
      where: "w-1",
      others: [
        { ...silent, where: "w-2", forSeconds: 12 },
        { code: "SLU-T311", what: "every stage to be reached", where: "w-3", seen: "boots", remedy: "Wait." },
      ],
    });
    expect(lines(error)).toEqual([
      "SLU-T101 A node does not answer: gate Stages did not open within 30 s",
      "  expected:   every node to run",
      "  seen:       w-1: does not answer",
      "              w-2: does not answer (for 12 s)",
      "  expected:   every stage to be reached",
      "  seen:       w-3: boots",
      `  cause:      SLU-T101: ${catalogue["SLU-T101"].cause}`,
      `              SLU-T311: ${catalogue["SLU-T311"].cause}`,
      `  what to do: ${catalogue["SLU-T101"].remedy}`,
      "              Wait.",
    ]);
  });
});

describe("an error", () => {
  test("has its code and whether another attempt may succeed as fields", () => {
    expect(new SluiceError({ code: "SLU-T107", seen: "busy", retryable: true })).toMatchObject({
      name: "SluiceError",
      code: "SLU-T107",
      seen: "busy",
      retryable: true,
    });
    expect(new SluiceError({ code: "SLU-T107", seen: "busy" }).retryable).toBe(false);
  });

  test("keeps its code and words when more is known of it", () => {
    const more = new SluiceError({ code: "SLU-T107", seen: "busy" }).with({ where: "w-1", what: "an answer" });
    expect(lines(more).slice(0, 4)).toEqual([
      "SLU-T107 Transient Talos API failure",
      "  where:      w-1",
      "  expected:   an answer",
      "  seen:       busy",
    ]);
  });

  test("is reduced to one line for a message that has room for no more", () => {
    expect(reasonOf(new SluiceError({ code: "SLU-T113", where: "w-1", seen: "odd" }))).toBe("w-1: odd");
    expect(reasonOf(new Error("first\nsecond"))).toBe("first");
  });
});

test.each(Object.entries(catalogue))(
  "the catalogue is complete for %s, with each sentence ended",
  (code, { title, cause, remedy }) => {
    expect(code).toMatch(/^SLU-[TKMLBA]\d{3}$/);
    expect(title).not.toMatch(/[.|]$/);
    for (const text of [cause, remedy]) expect(text).toMatch(/^[^|]+\.$/);
  },
);
