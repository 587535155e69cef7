import { channel } from "node:diagnostics_channel";
import { expect, test } from "@jest/globals";
import { interruption, unlessInterrupted } from "../../../components/gates/interruption.ts";

const called = (path: string) => channel("http2.server.stream.start").publish({ headers: { ":path": path } });

test("work that ends is none the wiser", async () => {
  const { signal } = new AbortController();
  expect(
    await unlessInterrupted(
      async () => 1,
      () => "",
      signal,
    ),
  ).toBe(1);
  const fails = () => Promise.reject(new Error("no"));
  await expect(unlessInterrupted(fails, () => "", signal)).rejects.toThrow("no");
});

test("S1.6 what is interrupted says what it was doing", async () => {
  const controller = new AbortController();
  const never = unlessInterrupted(
    () => new Promise(() => undefined),
    () => "waits for w-1",
    controller.signal,
  );
  controller.abort();
  const words = "interrupted: waits for w-1. What is done is kept, and the next `up` goes on.";
  await expect(never).rejects.toThrow(words);
});

test("S1.6 what would begin after an interruption is not begun", async () => {
  let begun = false;
  const work = async () => {
    begun = true;
  };
  const ended = unlessInterrupted(work, () => "has not begun", AbortSignal.abort());
  await expect(ended).rejects.toThrow("interrupted: has not begun. What is done is kept");
  expect(begun).toBe(false);
});

test("the engine's Cancel interrupts, and none of its other calls", () => {
  called("/pulumirpc.ResourceProvider/Create");
  expect(interruption.aborted).toBe(false);
  called("/pulumirpc.ResourceProvider/Cancel");
  expect(interruption.aborted).toBe(true);
});
