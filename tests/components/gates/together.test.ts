import { describe, expect, test } from "@jest/globals";
import { together } from "../../../components/gates/together.ts";
import { settled } from "./steppedClock.ts";

interface Look {
  readonly pods: string;
  readonly answer?: string;
}

describe("several looks at a time", () => {
  test("are one, in which each part is as it was seen last", async () => {
    const stop = new AbortController();
    let see: (part: Partial<Look>) => void = () => undefined;
    const work = async (told: typeof see) => {
      see = told;
    };
    const looks = together<Look>({ pods: "none" }, [work], stop.signal);
    const first = looks.next();
    await settled();
    see({ pods: "one" });
    see({ answer: "no" });
    expect((await first).value).toEqual({ pods: "one", answer: "no" });
    see({ pods: "two" });
    expect((await looks.next()).value).toEqual({ pods: "two", answer: "no" });
    stop.abort();
    expect(await looks.next()).toEqual({ done: true, value: undefined });
  });

  test("end with the error of any of them", async () => {
    const works = [
      () => new Promise<void>(() => undefined),
      async () => {
        throw new Error("cannot look");
      },
    ];
    const looks = together<Look>({ pods: "none" }, works, new AbortController().signal);
    await expect(looks.next()).rejects.toThrow("cannot look");
  });
});
