import { describe, expect, test } from "@jest/globals";
import { mergeObservations } from "../../../components/waiting/mergeObservations.ts";
import { settled } from "../gates/steppedClock.ts";

interface Look {
  readonly pods: string;
  readonly answer?: string;
}

describe("several observations at the same time", () => {
  test("are merged into one with the latest value of each part", async () => {
    const stop = new AbortController();
    let see: (part: Partial<Look>) => void = () => undefined;
    const work = async (told: typeof see) => {
      see = told;
    };
    const looks = mergeObservations<Look>({ pods: "none" }, [work], stop.signal);
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
        throw new Error("cannot observe");
      },
    ];
    const looks = mergeObservations<Look>({ pods: "none" }, works, new AbortController().signal);
    await expect(looks.next()).rejects.toThrow("cannot observe");
  });
});
