// Every kind of drift, what the next `up` does about it, and how a chain finds it.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "@jest/globals";
import { type Drift, readDrift } from "../../../scripts/drift/report.ts";
import type { Chain } from "./chain.ts";

/** As docs/drift.md has them, row by row. */
export const drifts = {
  "a node's machine config": "fixed",
  "a node without its config": "fixed",
  "a machine's settings": "fixed",
  "a firewall rule": "fixed",
  "a machine that is gone": "fixed",
  "another Talos version": "fixed",
  "another schematic": "fixed",
  "a node that is off": "refused",
  "a node that is stuck in a stage": "refused",
  "another machine at the address": "refused",
  "a missing etcd member": "refused",
  "an unexpected etcd member": "refused",
  "a missing Cilium pod": "refused",
  "another sealing key": "refused",
  "Flux is suspended": "refused",
  "Flux follows another source": "fixed",
  "Flux is behind": "refused",
  "an expiring client certificate": "fixed",
} as const satisfies Readonly<Record<string, "fixed" | "refused">>;

export type DriftName = keyof typeof drifts;

/** What a refresh finds, by name, in the order in which the report has it. */
export async function findDrift(chain: Chain): Promise<Extract<Drift, { state: "found" }>> {
  const refresh = await chain.run("refresh");
  const drift = readDrift(readFileSync(join(chain.lab.files, "events.json"), "utf8"), refresh.stdout + refresh.stderr);
  if (drift.state !== "found") throw new Error(`found no drift: ${JSON.stringify(drift)}\n${refresh.stdout}`);
  return drift;
}

/** Expects that `up` refuses, where, and with which words; returns its output. */
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

/** Expects that there is no drift. */
export async function noDrift(chain: Chain): Promise<void> {
  const { code, steps, stdout } = await chain.run("refresh", "--expect-no-changes");
  const said = code === 0 && steps.length === 0 ? "" : stdout;
  expect({ code, steps, said }).toEqual({ code: 0, steps: [], said: "" });
}
