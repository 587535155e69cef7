// Every drift that there is, what the next `up` does about it, and how a chain is asked for it.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "@jest/globals";
import { type Drift, readDrift } from "../../../scripts/drift/report.ts";
import type { Chain } from "./chain.ts";

/** As docs/drift.md has them, row by row. */
export const drifts = {
  "a node's machine config": "mended",
  "a node without its config": "mended",
  "a machine's settings": "mended",
  "a firewall rule": "mended",
  "a machine that is gone": "mended",
  "another Talos version": "refused",
  "another schematic": "refused",
  "a node that is off": "refused",
  "a node that is stuck in a stage": "refused",
  "another machine behind the address": "refused",
  "a member of etcd too few": "refused",
  "a member of etcd too many": "refused",
  "a Cilium pod that is missing": "refused",
  "another sealing key": "refused",
  "Flux is suspended": "refused",
  "Flux looks elsewhere": "mended",
  "Flux is behind": "refused",
  "a client's certificate near its end": "mended",
} as const satisfies Readonly<Record<string, "mended" | "refused">>;

export type DriftName = keyof typeof drifts;

/** What a refresh finds, by name, in the order in which the report has it. */
export async function findDrift(chain: Chain): Promise<Extract<Drift, { state: "found" }>> {
  const refresh = await chain.run("refresh");
  const drift = readDrift(readFileSync(join(chain.lab.files, "events.json"), "utf8"), refresh.stdout + refresh.stderr);
  if (drift.state !== "found") throw new Error(`found no drift: ${JSON.stringify(drift)}\n${refresh.stdout}`);
  return drift;
}

/** That `up` refuses, where, and with what words; returns all that it said. */
export async function refused(chain: Chain, where: string, ...words: readonly RegExp[]): Promise<string> {
  const up = await chain.run("up");
  const failed = up.steps.filter((step) => step.failed).map(({ type, name }) => `${type.split(":").at(-1)} ${name}`);
  expect({ code: up.code, failed, said: up.stdout }).toEqual({
    code: expect.any(Number),
    failed: [where],
    said: expect.any(String),
  });
  expect(up.code).not.toBe(0);
  for (const word of words) expect(up.stdout).toMatch(word);
  return up.stdout;
}

/** That there is no drift any more. */
export async function noDrift(chain: Chain): Promise<void> {
  const { code, steps, stdout } = await chain.run("refresh", "--expect-no-changes");
  const said = code === 0 && steps.length === 0 ? "" : stdout;
  expect({ code, steps, said }).toEqual({ code: 0, steps: [], said: "" });
}
