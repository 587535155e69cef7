import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import { traced, traceVariable } from "../../../components/engine/trace.ts";
import { SluiceError } from "../../../components/errors/sluiceError.ts";
import { SteppedClock } from "../gates/steppedClock.ts";

const urn =
  "urn:pulumi:dev::sluice::sluice:talos:AppliedMachineConfigs$pulumi-nodejs:dynamic/talos:AppliedMachineConfig::dev-w-1";

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "sluice-trace-"));
  file = join(folder, "trace.jsonl");
  process.env[traceVariable] = file;
});
afterEach(() => {
  delete process.env[traceVariable];
  rmSync(folder, { recursive: true });
});

const lines = () =>
  readFileSync(file, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));

describe("a trace", () => {
  test("has a line for each resource that worked: when it started and ended, and each wait of a gate", async () => {
    const clock = new SteppedClock();
    const work = traced(urn, clock, async (onWait) => {
      await clock.advance(1500);
      onWait({ began: 0, held: 400, opened: 1500, stableSeconds: 1 });
      return "well";
    });
    await expect(work).resolves.toBe("well");
    await traced("urn:pulumi:dev::sluice::pulumi-nodejs:dynamic/gates:Etcd::dev-etcd", clock, async () => undefined);
    const [first, second] = lines();
    const zero = Math.round(performance.timeOrigin);
    expect(first).toEqual({
      type: "talos:AppliedMachineConfig",
      name: "dev-w-1",
      began: zero,
      ended: zero + 1500,
      outcome: "done",
      waits: [{ began: zero, held: zero + 400, opened: zero + 1500, stableSeconds: 1 }],
    });
    expect(second).toEqual({
      type: "gates:Etcd",
      name: "dev-etcd",
      began: zero + 1500,
      ended: zero + 1500,
      outcome: "done",
    });
  });

  test("has a line for one that failed, too, and rethrows its error", async () => {
    const broken = traced(urn, new SteppedClock(), async () => {
      throw new Error("w-1 does not answer");
    });
    await expect(broken).rejects.toThrow("w-1 does not answer");
    expect(lines()).toMatchObject([{ name: "dev-w-1", outcome: "failed" }]);
    expect(lines()[0]).not.toHaveProperty("code");
  });

  test("has the failure's code of the catalogue (S1.5)", async () => {
    const broken = traced(urn, new SteppedClock(), async () => {
      throw new SluiceError({ code: "SLU-T202", seen: "no disk" });
    });
    await expect(broken).rejects.toThrow();
    expect(lines()).toMatchObject([{ name: "dev-w-1", outcome: "failed", code: "SLU-T202" }]);
  });

  test("is not written if SLUICE_TRACE is not set", async () => {
    delete process.env[traceVariable];
    await expect(traced(urn, new SteppedClock(), async () => 1)).resolves.toBe(1);
    expect(() => lines()).toThrow("ENOENT");
  });

  test("that cannot be written is reported, and fails nothing", async () => {
    process.env[traceVariable] = join(folder, "no", "such", "folder");
    const said = jest.spyOn(console, "error").mockImplementation(() => undefined);
    await expect(traced(urn, new SteppedClock(), async () => 1)).resolves.toBe(1);
    expect(said).toHaveBeenCalledWith(expect.stringContaining("SLUICE_TRACE: ENOENT"));
    said.mockRestore();
  });
});
