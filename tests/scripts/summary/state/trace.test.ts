import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "@jest/globals";
import { traced, traceVariable } from "../../../../components/engine/trace.ts";
import { parseTrace, readTrace, startTrace } from "../../../../scripts/summary/state/trace.ts";
import { SteppedClock } from "../../../components/gates/steppedClock.ts";

const folder = mkdtempSync(join(tmpdir(), "sluice-trace-"));
afterAll(() => rmSync(folder, { recursive: true }));

describe("the trace of a run", () => {
  test("is started again for each run, and read with what the providers have written to it", async () => {
    const file = join(folder, "dev.trace");
    process.env[traceVariable] = file;
    try {
      for (const name of ["first", "second"]) {
        await startTrace(file);
        await traced(`urn:pulumi:dev::sluice::gates:Etcd::${name}`, new SteppedClock(), async () => undefined);
      }
    } finally {
      delete process.env[traceVariable];
    }
    const trace = await readTrace(file);
    expect(trace?.lines.map(({ name }) => name)).toEqual(["second"]);
    expect(Math.abs((trace?.began ?? 0) - Date.now())).toBeLessThan(60_000);
  });

  test("does not exist if none was started", async () => {
    expect(await readTrace(join(folder, "nowhere"))).toBeUndefined();
    expect(parseTrace("")).toBeUndefined();
  });

  test("is read up to the last complete line if a run was killed", () => {
    expect(parseTrace('{"run":7}\n{"type":"gates:Etcd","name":"a"}\n{"type":"ga')).toEqual({
      began: 7,
      lines: [{ type: "gates:Etcd", name: "a" }],
    });
  });
});
