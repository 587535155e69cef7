import { channel } from "node:diagnostics_channel";
import { expect, test } from "@jest/globals";
import { interruption, unlessInterrupted } from "../../../components/engine/interruption.ts";

const called = (path: string) => channel("http2.server.stream.start").publish({ headers: { ":path": path } });

test("work that ends is not interrupted", async () => {
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

test("S1.6 work that is interrupted reports what it was doing", async () => {
  const controller = new AbortController();
  const never = unlessInterrupted(
    () => new Promise(() => undefined),
    () => "waits for w-1",
    controller.signal,
  );
  controller.abort();
  const words = "Interrupted: waits for w-1\n  what to do: Run the same command again";
  await expect(never).rejects.toThrow(words);
});

test("S1.6 no work starts after an interruption", async () => {
  let begun = false;
  const work = async () => {
    begun = true;
  };
  const ended = unlessInterrupted(work, () => "has not started", AbortSignal.abort());
  await expect(ended).rejects.toThrow("Interrupted: has not started\n");
  expect(begun).toBe(false);
});

test("only the engine's Cancel interrupts, and none of its other calls", () => {
  called("/pulumirpc.ResourceProvider/Create");
  expect(interruption.aborted).toBe(false);
  called("/pulumirpc.ResourceProvider/Cancel");
  expect(interruption.aborted).toBe(true);
});
